"""What the schema promises holds for requests that nobody thought of: schemathesis makes them up, by the schema and
against it, with the ids that other answers gave.

    schemathesis run http://127.0.0.1:8765/api/v1/openapi.json --checks all --exclude-checks positive_data_acceptance

does the same for as long as one likes.
"""

import subprocess
import sys

import pytest

pytest.importorskip("schemathesis", reason="needs schemathesis (the extra page)")

CHECKS = (
    *("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"),
    *("response_headers_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance"),
)


@pytest.mark.slow
def test_answers_are_as_the_schema_says(address, client, tmp_path):
    routes = sum(map(len, client.get("/api/v1/openapi.json").json()["paths"].values()))
    words = ["run", f"{address}api/v1/openapi.json", "--checks", ",".join(CHECKS), "--seed", "1", "--no-color"]
    words += ["--max-examples", "5", "--generation-deterministic", "--suppress-health-check", "all"]
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", *words]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]
    assert f"Tested: {routes}" in found.stdout and "Stateful" in found.stdout, found.stdout[-2000:]
