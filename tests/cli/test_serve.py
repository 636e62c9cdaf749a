"""`foveate serve`, as far as it does not serve: settings, help, refusals."""

from __future__ import annotations

import logging
import socket
import sys
import warnings

import pytest

from foveate.service.settings import Settings, describe_settings, load_settings


@pytest.fixture(autouse=True)
def logs():
    """Logging as it was before the service set up its own."""
    names = ("", "foveate", "uvicorn")
    loggers = [logging.getLogger(name) for name in names]
    before = [(one, one.handlers[:], one.level, one.propagate) for one in loggers]
    shown = warnings.showwarning
    yield
    for one, handlers, level, propagate in before:
        one.handlers[:], one.level, one.propagate = handlers, level, propagate
    logging.captureWarnings(capture=False)
    warnings.showwarning = shown


@pytest.mark.parametrize(
    "case",
    [
        (["--host", "0.0.0.0"], {}, 2, "no key"),
        ([], {"recipe": "nothing"}, 2, "unknown recipe 'nothing'"),
        ([], {"reciep": "default"}, 2, "did you mean 'recipe'?"),
        ([], {"threads": "many"}, 2, "threads"),
        ([], {"models": "x"}, 2, "JSON"),
        ([], {"cache": "disk:"}, 2, "unknown cache"),
        ([], {"recipes": '["nowhere.toml"]'}, 3, "nowhere.toml"),
        (["--settings", "nowhere.toml"], {}, 3, "nowhere.toml"),
        (["--workers", "2"], {"recipe": "nothing"}, 2, "unknown recipe"),
        (["--workers", "0"], {}, 2, "workers"),
        ([], {"models": '{"small": "openia:x"}'}, 2, "models: 'small': unknown model 'openia:x'"),
        ([], {"models": '{"small": "gguf:nowhere.gguf"}'}, 2, "models: 'small': "),
        (["--store", "stroe"], {"create": "false"}, 3, "or start with --create"),
        (["--workers", "2", "--store", "stroe"], {"create": "false"}, 3, "stroe"),
    ],
)
def test_a_setting_that_is_none_is_said_in_one_line(run, monkeypatch, case):
    """X1, F2: before anything listens, with what to do, and the exit code of its kind."""
    flags, settings, code, said = case
    for name, value in settings.items():
        monkeypatch.setenv(f"FOVEATE_SERVE_{name.upper()}", value)

    ran = run("serve", "--port", 0, *flags)

    assert ran.code == code
    assert said in ran.complaint


def test_a_store_that_cannot_be_opened_is_said_with_its_own_advice(run, monkeypatch, tmp_path):
    """X1: what to do is said once, and --create only where there is no store."""
    monkeypatch.setenv("FOVEATE_SERVE_CREATE", "false")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "store.db").write_text("dear")

    missing = run("serve", "--port", 0, "--store", "stroe").complaint
    other = run("serve", "--port", 0, "--store", tmp_path / "letters").complaint

    assert missing.count("index") == 2  # "index documents", and the command
    assert "is not a foveate store; name another folder" in other
    assert "--create" not in other


@pytest.mark.parametrize(("command", "package"), [("serve", "pydantic_settings"), ("mcp", "mcp")])
def test_a_missing_package_names_the_extra(run, monkeypatch, command, package):
    """The refusal says what to install."""
    for name in [name for name in sys.modules if name.startswith("foveate.service")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    ran = run(command)
    assert ran.code == 5
    assert f"foveate[{command}]" in ran.err


def test_a_store_is_made_on_demand_only(monkeypatch):
    """F3: by --create, the setting of that name, or not at all."""
    monkeypatch.delenv("FOVEATE_SERVE_CREATE")

    assert load_settings(None).create is False
    assert load_settings(None, create=True).create is True


def test_a_port_that_is_taken_is_said(run):
    """X1: a failure outside, with what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = run("serve", "--port", taken.getsockname()[1])

    assert ran.code == 5
    assert "cannot listen on 127.0.0.1" in ran.complaint


def test_the_environment_stands_over_the_file_and_flags_over_both(tmp_path, monkeypatch):
    """F3: three places, one order."""
    path = tmp_path / "serve.toml"
    path.write_text('port = 1\nhost = "::1"\nseconds = 9\n[models]\nsmall = "ollama:m"\n')
    monkeypatch.setenv("FOVEATE_SERVE_PORT", "2")
    monkeypatch.setenv("FOVEATE_SERVE_SECONDS", "8")
    monkeypatch.setenv("FOVEATE_SERVE_PRINCIPALS", '["a", "b"]')

    found = load_settings(path, port=3)

    assert (found.port, found.seconds, found.host) == (3, 8.0, "::1")
    assert found.principals == ("a", "b")
    assert found.models == {"small": "ollama:m"}


def test_help_lists_every_setting(run):
    """F3: name, default and purpose of each; each has a purpose."""
    ran = run("serve", "--help")

    assert ran.code == 0
    for name, (_, purpose) in describe_settings().items():
        assert purpose, name
        assert f"\n  {name} " in ran.out
    assert set(describe_settings()) == set(Settings.model_fields)


def test_a_wrong_secret_is_not_repeated(run, monkeypatch):
    """X4: what is wrong with a setting is said without its value, which may hold a password."""
    monkeypatch.setenv("FOVEATE_SERVE_WORKERS", "hunter2")

    assert "hunter2" not in run("serve").complaint
