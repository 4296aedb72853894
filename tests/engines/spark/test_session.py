"""Tests of what a session sets, and takes back, of the settings of a cluster."""

import pyarrow as pa
import pytest

from uqcli.base.errors import DataError
from uqcli.engines.spark import session


class FakeSession:
    """Has settings, and answers queries on them and on the version."""

    def __init__(self, version="", settings=()):
        self.version, self.settings, self.conf = version, dict(settings), self

    def sql(self, query):
        if query == "set":
            self.answer = pa.table({"key": list(self.settings), "value": list(self.settings.values())})
        else:
            self.answer = pa.table({"version()": [self.version]})
        return self

    def toArrow(self):  # noqa: N802
        return self.answer

    def set(self, name, value):
        self.settings[name] = value

    def unset(self, name):
        if name == "spark.sql.extensions":
            raise ValueError(name)
        del self.settings[name]


def test_settings_that_could_change_results_are_taken_back():
    kept = {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "7",
        "spark.sql.catalog.lake": "org.example.Catalog",
        "spark.sql.extensions": "org.example.Extensions",
        "spark.sql.parquet.output.committer.class": "org.example.Committer",
        "spark.sql.sources.commitProtocolClass": "org.example.Protocol",
        "spark.executor.memory": "4g",
    }
    taken_back = {
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
        "spark.sql.parquet.binaryAsString": "true",
        "spark.sql.files.ignoreCorruptFiles": "true",
    }
    changed = {"spark.sql.session.timeZone": "America/New_York", "spark.sql.ansi.enabled": "false"}
    fake = FakeSession(settings=kept | taken_back | changed)
    session._settle(fake)
    assert fake.settings == kept | session._SETTINGS


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.7.2", "is no Apache Spark: it says version 0.7.2, as Sail does"),
        ("3.5.6 303c18c74664f161b9b969ac343784c088b47593", "is Spark 3.5.6, and the client pyspark "),
    ],
)
def test_servers_that_do_not_fit_are_refused(monkeypatch, version, message):
    monkeypatch.setattr(session, "_OTHERS_ARE_READ", False)
    with pytest.raises(DataError, match=message):
        session._version(FakeSession(version), "sc://host")


@pytest.mark.parametrize("version", ["4.0.1 29434ea766b0fc3c3bf6eaadb43a8f931133649e", "4.1.0-acme-2"])
def test_servers_made_from_spark_4_are_taken(monkeypatch, version):
    monkeypatch.setattr(session, "_OTHERS_ARE_READ", False)
    assert session._version(FakeSession(version), "sc://host") == version
    assert bool(session._APACHE.fullmatch(version)) == ("acme" not in version)
