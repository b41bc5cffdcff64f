"""An S3 server on loopback that wants credentials, in a process of its own: `python object_store.py FOLDER`.

It serves the folders below FOLDER as buckets, those whose names begin with `public` to anyone, and prints its address
and an access key as a line of JSON. It ends with its standard input.
"""

import json
import os
import sys
from pathlib import Path

USER = "reader"
ANYTHING = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


def main(folder: Path) -> None:
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "3"  # the three requests of `_access_key`
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    key, secret = _access_key(endpoint)
    for bucket in folder.iterdir():
        _fill(_client("s3", endpoint, key, secret), bucket)
    print(json.dumps({"endpoint": endpoint, "key": key, "secret": secret}), flush=True)
    sys.stdin.read()
    server.stop()


def _client(service, endpoint, key, secret):  # type: ignore[no-untyped-def]
    import boto3

    return boto3.client(
        service, endpoint_url=endpoint, aws_access_key_id=key, aws_secret_access_key=secret, region_name="us-east-1"
    )


def _access_key(endpoint: str) -> tuple[str, str]:
    """Of a user who may do anything."""
    iam = _client("iam", endpoint, "none", "none")
    iam.create_user(UserName=USER)
    key = iam.create_access_key(UserName=USER)["AccessKey"]
    iam.put_user_policy(UserName=USER, PolicyName="all", PolicyDocument=json.dumps(ANYTHING))
    return key["AccessKeyId"], key["SecretAccessKey"]


def _fill(s3, bucket: Path) -> None:  # type: ignore[no-untyped-def]
    access = {"ACL": "public-read"} if bucket.name.startswith("public") else {}
    s3.create_bucket(Bucket=bucket.name)
    for file in filter(Path.is_file, bucket.rglob("*")):
        s3.put_object(Bucket=bucket.name, Key=file.relative_to(bucket).as_posix(), Body=file.read_bytes(), **access)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
