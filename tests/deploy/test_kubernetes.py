"""The manifests: against the API's schemas, against the service, and against each other."""

from __future__ import annotations

import kubernetes_validate
import pytest
import yaml

from deploy_files import KUSTOMIZATION, dockerfile, kind, manifests
from foveate.service.app import create_app
from foveate.service.settings import Settings

DEPLOYMENT = kind("Deployment")
POD = DEPLOYMENT["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
CONFIG = kind("ConfigMap")["data"]
PORT = {"name": "http", "containerPort": Settings.model_fields["port"].default}


@pytest.mark.parametrize("version", ["1.30.0", kubernetes_validate.latest_version()])
@pytest.mark.parametrize("name", manifests())
def test_each_is_of_the_api(name, version):
    """F3: strictly valid, for an older cluster and for the newest that the schemas know."""
    found = kubernetes_validate.validate(manifests()[name], version, strict=True)

    assert version.startswith(found)


def test_the_kustomization_names_them_all():
    """F3: every manifest is applied, but for the secret's template, which has no values."""
    listed = yaml.safe_load(KUSTOMIZATION.read_text(encoding="utf-8"))["resources"]

    assert sorted(listed) == sorted(set(manifests()) - {"secret.template.yaml"})
    assert set(kind("Secret")["stringData"].values()) == {""}


def test_names_and_labels_meet():
    """F3: service, budget, autoscaler and policy find the pods; mounts and files are there."""
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    wanted = [
        DEPLOYMENT["spec"]["selector"]["matchLabels"],
        kind("Service")["spec"]["selector"],
        kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
    ]
    assert all(each == labels for each in wanted)
    scaled = kind("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]
    assert (scaled["kind"], scaled["name"]) == ("Deployment", DEPLOYMENT["metadata"]["name"])
    assert "replicas" not in DEPLOYMENT["spec"]  # two cannot decide about one number
    assert POD["serviceAccountName"] == kind("ServiceAccount")["metadata"]["name"]
    assert {m["name"] for m in CONTAINER["volumeMounts"]} == {v["name"] for v in POD["volumes"]}
    assert CONTAINER["envFrom"] == [
        {"configMapRef": {"name": kind("ConfigMap")["metadata"]["name"]}}
    ]
    (secret,) = [v["secret"] for v in POD["volumes"] if "secret" in v]
    assert secret["secretName"] == kind("Secret")["metadata"]["name"]
    folder = next(m["mountPath"] for m in CONTAINER["volumeMounts"] if m["name"] == "secret")
    files = {f"{folder}/{name}" for name in kind("Secret")["stringData"]}
    assert files == {CONTAINER["args"][-1], CONFIG["FOVEATE_SERVE_KEYS"]}


def test_ports_and_probes_are_the_services_own():
    """F3: the port that it listens on, and addresses that it has."""
    assert CONTAINER["ports"] == [PORT]
    assert CONFIG["FOVEATE_SERVE_PORT"] == str(PORT["containerPort"])
    assert kind("Service")["spec"]["ports"][0]["targetPort"] == PORT["name"]
    assert kind("NetworkPolicy")["spec"]["ingress"][0]["ports"][0]["port"] == PORT["containerPort"]
    paths = set(create_app(Settings(store="")).openapi()["paths"])
    probes = {
        name: CONTAINER[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")
    }
    assert {each["port"] for each in probes.values()} == {PORT["name"]}
    assert {each["path"] for each in probes.values()} <= paths
    assert probes["readiness"]["path"] == "/readyz"
    assert probes["liveness"]["path"] == probes["startup"]["path"] == "/healthz"


def test_a_pod_may_finish_what_it_took():
    """F3: preStop and grace together are less than the time until it is killed."""
    pause = int(CONTAINER["lifecycle"]["preStop"]["exec"]["command"][1])
    grace = float(CONFIG["FOVEATE_SERVE_GRACE"])

    assert POD["terminationGracePeriodSeconds"] >= pause + grace + 5
    probe = CONTAINER["readinessProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] <= pause
    assert grace >= Settings.model_fields["seconds"].default


def test_a_pod_may_do_little():
    """X4: no root, no privilege, nothing written but to /tmp, no token, no look-alike settings."""
    (user,) = [i.text for i in dockerfile() if (i.stage, i.name) == ("final", "USER")]
    context, inner = POD["securityContext"], CONTAINER["securityContext"]

    assert user == f"{context['runAsUser']}:{context['runAsGroup']}"
    assert context["runAsNonRoot"] is True
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert inner["readOnlyRootFilesystem"] is True
    assert inner["allowPrivilegeEscalation"] is False
    assert inner["capabilities"] == {"drop": ["ALL"]}
    assert POD["automountServiceAccountToken"] is False
    assert POD["enableServiceLinks"] is False
    writable = [m["mountPath"] for m in CONTAINER["volumeMounts"] if not m.get("readOnly")]
    assert writable == ["/tmp"]
    assert {"requests", "limits"} == set(CONTAINER["resources"])
