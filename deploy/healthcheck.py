"""Asks the service of this machine how it is; ends with 0 where it answers, else with 1.

`/healthz`: that it answers at all. `healthcheck.py /readyz`: that it takes new requests. It needs
no key, no package and no proxy, and says why it failed.
"""

import http.client
import os
import sys


def main(path: str) -> int:
    """Ask once."""
    port = int(os.environ.get("FOVEATE_SERVE_PORT", "8020"))
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        asked.request("GET", path)
        status = asked.getresponse().status
    except OSError as error:
        print(f"no answer on port {port}: {error}", file=sys.stderr)
        return 1
    finally:
        asked.close()
    if status != 200:
        print(f"{path} answered {status}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "/healthz"))
