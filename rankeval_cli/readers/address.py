"""Addresses of files elsewhere (`s3://bucket/run.parquet`): which are read, and what goes wrong with them in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote

from rankeval_cli.errors import InputError

# As Polars has them -> what opens a closed door. Polars takes all of it from the environment.
_S3 = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket"
_GOOGLE = "set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account"
_AZURE = "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"
_WEB = "public addresses alone are read; copy the file first, or pipe it: curl ADDRESS | rankeval - QRELS"
CREDENTIALS = {
    "s3": _S3,
    "s3a": _S3,
    "gs": _GOOGLE,
    "gcs": _GOOGLE,
    "az": _AZURE,
    "azure": _AZURE,
    "abfs": _AZURE,
    "abfss": _AZURE,
    "adl": _AZURE,
    "hf": "set HF_TOKEN to a token that may read it",
    "http": _WEB,
    "https": _WEB,
}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HUB = re.compile(r"https://[^/]+/[^/]+/[^/]+/[^/]+/resolve/[^/]+/(.*)")
_REPOSITORY = re.compile(r"hf://[^/]+/[^/]+/[^/]+")
_STATUS = re.compile(r"status code: (\d{3})|HTTP status \w+ error \((\d{3})")
_HUB_ANSWER = re.compile(r'"error":\s*"([^"]*)"')  # of Hugging Face, when it lists files
_CAUSE = re.compile(r"^\s+\d+: (.*)$", re.MULTILINE)
_NETWORK = ("error sending request", "client error (connect)", "dns error", "timed out", "connection")
_CREDENTIAL = ("credential", "missing region", "invalidaccesskeyid", "signaturedoesnotmatch", "account must be")


class MissingError(InputError):
    """There is no object of that name, or no such bucket."""


def is_address(path: str) -> bool:
    """Whether a path names a scheme, such as `s3://`."""
    return _SCHEME.match(path) is not None


def scheme_of(address: str) -> str:
    """The scheme in lower case, such as `s3`; raises InputError for one that is not read."""
    found = _SCHEME.match(address)
    scheme = found[1].lower() if found else ""
    if scheme == "file":
        raise InputError("`file://` is not read", address, f"write {_SCHEME.sub('', address) or 'the path'} instead")
    if scheme not in CREDENTIALS:
        known = ", ".join(f"{name}://" for name in CREDENTIALS)
        raise InputError(f"`{scheme}://` is not read, only {known}", address, "copy it first: a local path is read")
    return scheme


def hub_address(given: str, path: str) -> str:
    """Polars lists Hugging Face as web addresses, which it would read without the token: back to `hf://`."""
    hub, repository = _HUB.fullmatch(path), _REPOSITORY.match(given)
    return f"{repository[0]}/{unquote(hub[1])}" if hub and repository else path


@contextmanager
def explained(address: str) -> Iterator[None]:
    """Turn what Polars raises about an address into InputError: no such object, access denied, no network."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise explanation(error, address) from error


def is_about_parquet(error: BaseException) -> bool:
    """Whether an error of Polars is about what a file holds, not about whether it can be had."""
    import polars as pl

    is_ours = isinstance(error, pl.exceptions.PolarsError | pl.exceptions.PanicException)
    return is_ours and str(error).startswith("parquet: ")


def explanation(error: BaseException, address: str) -> InputError:
    """An error of Polars in our words. The path that Polars names is left out: it can be that of an earlier object."""
    text, scheme = str(error), scheme_of(address)
    found = _STATUS.search(text)
    status = next(filter(None, found.groups()), "") if found else ""
    low = text.lower()
    if "NoSuchBucket" in text or "ContainerNotFound" in text:
        return MissingError("no such bucket", address, "check its name, and that the endpoint is the right one")
    if isinstance(error, PermissionError) or status in ("401", "403") or any(word in low for word in _CREDENTIAL):
        return InputError(f"access is denied{f' (status {status})' if status else ''}", address, CREDENTIALS[scheme])
    if status == "404" or isinstance(error, FileNotFoundError):
        return MissingError("no such file", address, "check its spelling; capitals count")
    if (answer := _HUB_ANSWER.search(text)) is not None:
        return MissingError(f"no such file: the hub says `{answer[1]}`", address, CREDENTIALS[scheme])
    if "range request not supported" in low:
        return InputError("the server sends no parts of files", address, "pipe it: curl ADDRESS | rankeval - QRELS")
    if "hugging face uri" in low or "invalid hugging face path" in low:
        return InputError("is no file of Hugging Face", address, "write hf://datasets/USER/NAME/FILE")
    if "redirect" in low:
        return InputError("lies in another region", address, "set AWS_REGION to the region of the bucket")
    if not status and (isinstance(error, ConnectionError | TimeoutError) or any(word in low for word in _NETWORK)):
        causes = _CAUSE.findall(text) or [_first_line(text)]
        hint = "check the network, and the endpoint if you have set one, as in AWS_ENDPOINT_URL"
        return InputError(f"cannot be reached: {causes[-1][:1].lower()}{causes[-1][1:]}", address, hint)
    reason = f"the server answers with status {status}" if status else _first_line(text)
    return InputError(f"cannot be read: {reason}", address, "look whether it is whole, and try again")


def _first_line(text: str) -> str:
    lines = text.strip().splitlines() or ["no reason is given"]
    return re.sub(r" \(path: [^)]*\)$", "", lines[0]).removeprefix("object-store error: ")
