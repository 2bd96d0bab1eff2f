"""Where files are: on this machine, or in a bucket (`s3://bucket/prefix`). Only this folder uses the network."""

from mmcc.storage.remote import RemotePath, Unreachable, inner_name, is_remote, place, spelled, split_id, stored_name

__all__ = ["RemotePath", "Unreachable", "inner_name", "is_remote", "place", "spelled", "split_id", "stored_name"]
