"""Fetching from a mirror, a web server, a package index and a path, all on this machine."""

from __future__ import annotations

import functools
import hashlib
import http.server
import lzma
import threading
import zipfile
from dataclasses import replace

import pytest

from treebound.core.errors import FetchError
from treebound.treebanks.catalogue import CORPORA, Corpus, Package, Url, UserPath
from treebound.treebanks.fetch import available_corpora, fetch, raw_dir, sha256

CONTENT = b"1\tyes\t_\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"
OTHER = CONTENT.replace(b"yes", b"no!")
SUM = hashlib.sha256(CONTENT).hexdigest()
NOWHERE = "http://127.0.0.1:9/"  # the discard port, which has no server


def corpus(source) -> Corpus:
    files = {"train": ["a.conllu"], "dev": ["a.conllu"], "test": ["a.conllu"]}
    return Corpus("tiny", "A tiny corpus", "en", "synthetic", source, files)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server(tmp_path):
    """Yield the folder that is served, its URL and the list of requests."""
    seen: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            seen.append(self.path)

    folder = tmp_path / "web"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder))) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{httpd.server_port}/", seen
        httpd.shutdown()


def leftovers(folder):
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


def test_mirror_plain_and_compressed(tmp_path):
    for name, content in (("a.conllu", CONTENT), ("a.conllu.xz", lzma.compress(CONTENT))):
        mirror = tmp_path / name / "mirror"
        (mirror / "tiny").mkdir(parents=True)
        (mirror / "tiny" / name).write_bytes(content)
        data = tmp_path / name / "data"
        folder = fetch(corpus(Url(NOWHERE, {"a.conllu": SUM})), data, mirror)
        assert folder == data / "raw" / "tiny"
        assert (folder / "a.conllu").read_bytes() == CONTENT
        assert leftovers(data) == ["a.conllu"]


def test_mirror_under_another_name(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.conllu").write_bytes(CONTENT)
    fetch(corpus(Url(NOWHERE, {"a.conllu": SUM}, mirror="shared")), tmp_path / "data", tmp_path)


@pytest.mark.parametrize("content", [lzma.compress(OTHER), lzma.compress(CONTENT)[:-9], b"not xz"])
def test_damaged_mirror(tmp_path, content):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "a.conllu.xz").write_bytes(content)
    with pytest.raises(FetchError, match=r"tiny: .*a\.conllu\.xz (has sha256|cannot be read)"):
        fetch(corpus(Url(NOWHERE, {"a.conllu": SUM})), tmp_path / "data", tmp_path)
    assert not (tmp_path / "data").exists() or leftovers(tmp_path / "data") == []


def test_download_and_nothing_twice(tmp_path, server):
    web, url, seen = server
    (web / "a.conllu").write_bytes(CONTENT)
    source = corpus(Url(url, {"a.conllu": SUM}))
    folder = fetch(source, tmp_path / "data", mirror=tmp_path / "no-such-mirror")
    assert sha256(folder / "a.conllu") == SUM
    assert leftovers(tmp_path / "data") == ["a.conllu"]
    assert len(seen) == 1
    fetch(source, tmp_path / "data")
    assert len(seen) == 1
    # a damaged file is downloaded a second time
    (folder / "a.conllu").write_bytes(OTHER)
    fetch(source, tmp_path / "data")
    assert len(seen) == 2
    assert (folder / "a.conllu").read_bytes() == CONTENT


def test_download_with_a_wrong_checksum(tmp_path, server):
    web, url, _ = server
    (web / "a.conllu").write_bytes(OTHER)
    with pytest.raises(FetchError, match=r"tiny: http.*a.conllu does not have the sha256 of the catalogue; a proxy"):
        fetch(corpus(Url(url, {"a.conllu": SUM})), tmp_path / "data")
    assert leftovers(tmp_path / "data") == []


def test_no_such_file_on_the_server(tmp_path, server):
    _, url, _ = server
    with pytest.raises(FetchError, match=r"tiny: .*HTTPError.*run `treebound fetch tiny`"):
        fetch(corpus(Url(url, {"a.conllu": SUM})), tmp_path / "data")
    assert leftovers(tmp_path / "data") == []


def test_no_mirror_and_no_network(tmp_path):
    folder = raw_dir(CORPORA["tr_twt"], tmp_path / "data")
    folder.mkdir(parents=True)
    for name in CORPORA["tr_twt"].source.files:
        (folder / name).touch()
    with pytest.raises(FetchError) as caught:
        fetch(corpus(Url(NOWHERE, {"a.conllu": SUM})), tmp_path / "data", tmp_path / "mirror")
    message = str(caught.value)
    assert "tiny: " in message
    assert "has no a.conllu" in message
    assert message.endswith("run `treebound fetch tiny`; corpora available here: tr_twt")
    assert "connect to the network or set TREEBANK_MIRROR to a folder that holds tiny/a.conllu" in message
    assert "\n" not in message


def test_paths_of_the_user(tmp_path):
    licensed = corpus(UserPath("the folder of the corpus"))
    assert fetch(licensed, tmp_path / "data", path=tmp_path) == tmp_path
    reason = (
        r"tiny: A tiny corpus is not open \(synthetic\); give the path of the folder of the corpus: with --path, or"
    )
    with pytest.raises(FetchError, match=reason):
        fetch(licensed, tmp_path / "data")
    with pytest.raises(FetchError, match=r"none is not a folder; give the path of the folder of the corpus"):
        fetch(licensed, tmp_path / "data", path=tmp_path / "none")


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """Return the path of a wheel in the only folder where pip looks for packages."""
    path = tmp_path / "index" / "tiny_corpus-1.0-py3-none-any.whl"
    path.parent.mkdir()
    info = "tiny_corpus-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/a.conllu", CONTENT)
        archive.writestr("data/large.bin", b"0" * 1000)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-corpus\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return path


def test_package(tmp_path, wheel):
    source = corpus(Package("tiny-corpus", "1.0", sha256(wheel), {"data/a.conllu": SUM}))
    folder = fetch(source, tmp_path / "data")
    assert (folder / "a.conllu").read_bytes() == CONTENT
    assert leftovers(tmp_path / "data") == ["a.conllu"], "only the requested corpus is fetched"
    wheel.unlink()
    fetch(source, tmp_path / "data")  # pip is no longer needed


def test_package_with_a_wrong_checksum(tmp_path, wheel):
    source = corpus(Package("tiny-corpus", "1.0", SUM, {"data/a.conllu": SUM}))
    with pytest.raises(FetchError, match=r"tiny: tiny_corpus-1.0-py3-none-any.whl has sha256 .* the catalogue says"):
        fetch(source, tmp_path / "data")
    source = corpus(Package("tiny-corpus", "1.0", sha256(wheel), {"data/a.conllu": hashlib.sha256(OTHER).hexdigest()}))
    with pytest.raises(FetchError, match=r"data/a.conllu has sha256"):
        fetch(source, tmp_path / "data")
    assert leftovers(tmp_path / "data") == []


def test_package_that_is_not_there(tmp_path, wheel):
    source = corpus(Package("tiny-corpus", "2.0", SUM, {"data/a.conllu": SUM}))
    with pytest.raises(FetchError) as caught:
        fetch(source, tmp_path / "data")
    message = str(caught.value)
    assert message.startswith("tiny: pip could not download tiny-corpus==2.0 (No matching distribution found")
    assert message.endswith("connect to a package index and run `treebound fetch tiny`; corpora available here: none")
    assert leftovers(tmp_path / "data") == []


def test_corpora_that_are_available_offline(tmp_path):
    assert available_corpora(tmp_path) == []
    source = CORPORA["en_ewt"].source
    for name in source.files:
        (tmp_path / "mirror" / "en_ewt").mkdir(parents=True, exist_ok=True)
        (tmp_path / "mirror" / "en_ewt" / f"{name}.xz").touch()
    folder = raw_dir(CORPORA["tr_twt"], tmp_path)
    folder.mkdir(parents=True)
    for name in CORPORA["tr_twt"].source.files:
        (folder / name).touch()
    assert available_corpora(tmp_path) == ["tr_twt"]
    assert available_corpora(tmp_path, tmp_path / "mirror") == ["tr_twt", "en_ewt"]


def test_unwritable_data_folder(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "a.conllu").write_bytes(CONTENT)
    source = corpus(Url(NOWHERE, {"a.conllu": SUM}))
    for mirror in (tmp_path, None):
        with pytest.raises(FetchError, match="cannot be written"):
            fetch(source, tmp_path / "file", mirror)
    package = replace(source, source=Package("tiny-corpus", "1.0", SUM, {"data/a.conllu": SUM}))
    with pytest.raises(FetchError, match="cannot be written"):
        fetch(package, tmp_path / "file")
