"""Connections to S3 by `pyarrow.fs`, which never wait for ever, and what goes wrong with them in words."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from mmcc.errors import InputError
from mmcc.storage.address import Credentials
from mmcc.text import one_line, without_credentials

CONNECT_SECONDS = 5.0
REQUEST_SECONDS = 20.0  # without a byte of an answer
ATTEMPTS = 3
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")  # as the AWS command line reads them; pyarrow does not
_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_NOISE = re.compile(
    r" ?\(?Request ID: [^)]*\)?|AWS Error |Unable to parse ExceptionName: |curlCode: \d+, | Details: .*"
)
_REGION = re.compile(r"(?:located in|region is) '([\w-]+)'")

_credentials: dict[str, Credentials] = {}  # by bucket and options
_connected_in: set[int] = set()  # processes


class Unreachable(InputError):
    """The storage does not answer: no other file of it can be read either."""


def remember(connection: str, credentials: Credentials) -> None:
    """Credentials that came with an address."""
    _credentials[connection] = credentials


def file_system(connection: str) -> Any:
    """The pyarrow file system for a bucket with its options, e.g. "bucket?region=eu-west-1"."""
    _connected_in.add(os.getpid())
    if len(_connected_in) > 1:  # the SDK's threads did not survive the fork: it would wait for them for ever
        raise Unreachable(f"s3://{connection}", "cannot be read in a forked process", "Copy the data to this machine.")
    return _connect(connection, _credentials.get(connection))


@cache
def _connect(connection: str, credentials: Credentials | None) -> Any:
    from pyarrow import fs

    bucket, _, query = connection.partition("?")
    given = dict(parse_qsl(query))
    options: dict[str, Any] = {name: given[name] for name in ("region", "scheme", "endpoint_override") if name in given}
    endpoint = next(filter(None, map(os.environ.get, _ENDPOINTS)), "")
    if endpoint and "endpoint_override" not in options:
        scheme, _, options["endpoint_override"] = endpoint.rstrip("/").rpartition("://")
        options.setdefault("scheme", scheme or "https")
    if given.get("anonymous", "").lower() in ("1", "true", "yes"):
        options["anonymous"] = True
    elif credentials is not None:
        options |= {"access_key": credentials.key, "secret_key": credentials.secret}
    with explained(f"s3://{bucket}"):
        if "region" not in options and not any(map(os.environ.get, ("AWS_REGION", "AWS_DEFAULT_REGION"))):
            own = "endpoint_override" in options  # such servers have no regions
            options["region"] = "us-east-1" if own else fs.resolve_s3_region(bucket)
        return fs.S3FileSystem(
            **options,
            connect_timeout=CONNECT_SECONDS,
            request_timeout=REQUEST_SECONDS,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
        )


@contextmanager
def explained(path: object) -> Iterator[None]:
    """FileNotFoundError where there is no such object; whatever else goes wrong is an InputError."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "no such object", str(path)) from None
    except OSError as error:
        raise explanation(path, str(error)) from None


def explanation(path: object, message: str) -> InputError:
    """What pyarrow's message means."""
    place = without_credentials(str(path))
    if "NETWORK_CONNECTION" in message or "curlCode" in message:
        if "curlCode: 28" in message:
            cause = f"the storage does not answer ({REQUEST_SECONDS:g} s, {ATTEMPTS} times)"
        else:
            details = re.search(r"Details: (.*)", message)
            cause = f"the storage cannot be reached ({_short(details[1] if details else message)})"
        return Unreachable(place, cause, "Check the network and the address of the storage, and run it again.")
    if "NO_SUCH_KEY" in message or "NoSuchKey" in message:
        return InputError(place, "has been removed meanwhile", "Run the same command again.")
    if "NO_SUCH_BUCKET" in message or "NoSuchBucket" in message:
        return InputError(place, "there is no such bucket", "Check its name, its region and its endpoint.")
    if (found := _REGION.search(message)) or re.search(r"HTTP status 30\d|PermanentRedirect", message):
        where = found[1] if found else "REGION"
        cause = f"the bucket is in another region{f' ({where})' if found else ''}"
        return InputError(place, cause, f"Add ?region={where} to the address, or set AWS_REGION.")
    if re.search(r"ACCESS_DENIED|AccessDenied|HTTP status 403|INVALID_ACCESS_KEY|SIGNATURE|EXPIRED|TOKEN", message):
        reason = "" if "ACCESS_DENIED" in message else f" ({_short(message)})"
        remedy = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to those of an account that may."
        return InputError(place, f"permission denied{reason}", remedy)
    return InputError(place, f"the storage failed ({_short(message)})", "Run it again; if it lasts, ask its operator.")


def _short(message: str) -> str:
    """Without what tells a user nothing, and without secrets."""
    for secret in filter(None, [*map(os.environ.get, _SECRETS), *(each.secret for each in _credentials.values())]):
        message = message.replace(secret, "***")
    return one_line(_NOISE.sub("", message)).strip().rstrip(".")[:300]
