"""The reader of LIBSVM text against scikit-learn's."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys

import numpy as np
import pytest
import real_data
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_files

import uids
from uids.datasets.formats import libsvm
from uids.datasets.formats.libsvm_kernel import scan
from uids.datasets.formats.libsvm_text import parse_block
from uids.datasets.parsed import GrowingArray, load

SMALL = 2**22  # a block that holds the whole file: read without the compiled scan
BLOCKS = (SMALL, 2**12, 5, 1)  # below the file's size: with it, and with cuts in many places


def read(folder, *texts, block, features=None, suffix="", pack=bytes, index=None):
    """[(X, y) of each text], parsed into a folder that must not exist."""
    folder.mkdir()
    paths = {}
    for number, text in enumerate(texts):
        paths[f"part{number}"] = folder / f"text{number}{suffix}"
        paths[f"part{number}"].write_bytes(pack(text))
    (folder / "arrays").mkdir()
    libsvm.parse(paths, folder / "arrays", features, block, index)
    return list(load(folder / "arrays").values())


def assert_as_sklearn(found, texts, features=None):
    expected = load_svmlight_files([io.BytesIO(text) for text in texts], n_features=features)
    for (X, y), other, labels in zip(found, expected[::2], expected[1::2], strict=True):
        assert X.shape == other.shape
        assert X.indices.dtype == X.indptr.dtype == np.int32
        assert X.data.dtype == y.dtype == np.float64
        np.testing.assert_array_equal(X.indptr, other.indptr)
        np.testing.assert_array_equal(X.indices, other.indices)
        np.testing.assert_array_equal(X.data.view(np.int64), other.data.view(np.int64))
        np.testing.assert_array_equal(y.view(np.int64), labels.view(np.int64))


plain = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(
    st.sampled_from(["1", "0", "-0", "+1", "-1", "1e-320", "5e-324", "1e400", "-1e-400", "inf"]),
    st.sampled_from([".5", "5.", "-.5E1", "1e+05", "00012", "0.10", "1_0", "0e99999", "nan"]),
    st.sampled_from(["9007199254740993", "2.2250738585072011e-308", "1.7976931348623159e308"]),
    st.integers(-(10**25), 10**25).map(str),
    plain.map(repr),
    plain.map("{:.17g}".format),
    plain.map("{:.25e}".format),
    st.floats(-1, 1).map("{:.6f}".format),
    st.from_regex(r"[+-]?[0-9]{1,22}(\.[0-9]{0,22})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)
spaces = st.sampled_from([" ", " ", " ", "  ", "\t", " \t ", "\x0b", "\r "])


@st.composite
def lines(draw, lowest=0):
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(st.sampled_from(["", "  \t", "# a comment: 1:1", "\r", " #"]))
    words = [draw(numbers)]
    if kind == 1:
        words.append(draw(st.sampled_from(["qid:3", "qid:x", "qid:", "qidx:1:2"])))
    columns = draw(st.lists(st.integers(lowest, 2**31 - 2) | st.integers(lowest, 9), max_size=6))
    for column in sorted(set(columns)):
        words.append(draw(st.sampled_from(["", "", "", "0", "00", "+"])) + f"{column}")
        words[-1] += ":" + draw(numbers)
    line = "".join(word + draw(spaces) for word in words)
    return line + draw(st.sampled_from(["", "", "#", "# 3:4 :", "\r"]))


@st.composite
def texts(draw, lowest=0):
    found = "\n".join(draw(st.lists(lines(lowest), max_size=8)))
    return (found + draw(st.sampled_from(["", "\n"]))).encode()


@settings(max_examples=60)
@given(st.integers(0, 1).flatmap(lambda low: st.lists(texts(low), min_size=1, max_size=3)))
def test_any_text_is_read_as_by_sklearn(tmp_path_factory, several):
    folder = tmp_path_factory.mktemp("any")
    for block in BLOCKS:
        assert_as_sklearn(read(folder / str(block), *several, block=block), several)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n\n",
        b"# nothing\n",
        b"1",
        b"1\n-1",
        b"1 1:1\r\n-1 2:0.5\r\n",
        b"1 1:1 #c\n\n-1 1:2 3:4  \n",
        b"+1 qid:3 1:1\n-1 qid:4 2:2\n",
        b"0 0:1 5:1\n",
        b"3 7:0\n",
        b"1 2147483647:1\n",
        b"nan 1:inf 2:-Infinity 3:nan\n",
    ],
)
def test_corners_of_the_language(tmp_path, block, text):
    assert_as_sklearn(read(tmp_path / "a", text, block=block), [text])
    d = 2**31 - 1
    assert_as_sklearn(read(tmp_path / "b", text, block=block, features=d), [text], features=d)


@pytest.mark.parametrize("block", BLOCKS)
def test_where_indices_start_is_said_by_all_files_together(tmp_path, block):
    for number, several in enumerate(
        [
            (b"1 1:1\n", b"1 2:1 5:1\n"),
            (b"1 1:1\n", b"1 0:1 5:1\n"),
            (b"1 0:1\n", b"1 2:1 5:1\n"),
            (b"1 3:1\n", b"1\n"),
            (b"1 3:1\n", b""),
        ]
    ):
        found = read(tmp_path / str(number), *several, block=block)
        assert_as_sklearn(found, several)


@pytest.mark.parametrize("block", BLOCKS)
def test_indices_that_do_not_ascend_are_sorted(tmp_path, block):
    (found,) = read(tmp_path / "a", b"1 1:1\n2 7:7 2:2 5:5\n3 1:8\n", block=block)
    assert_as_sklearn([found], [b"1 1:1\n2 2:2 5:5 7:7\n3 1:8\n"])


@pytest.mark.parametrize("block", [*BLOCKS, 40])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"word 1:1", "the label 'word' is not a number"),
        (b"1,2 1:1", "the label '1,2' is not a number"),
        (b"1:1 2:2", "the label '1:1' is not a number"),
        (b"1 2", "'2' is not index:value"),
        (b"1 qid 2:1", "'qid' is not index:value"),
        (b"1 1:1 qid:2", "the index of 'qid:2' is not a whole number"),
        (b"1 1.5:1", "the index of '1.5:1' is not a whole number"),
        (b"1 :1", "the index of ':1' is not a whole number"),
        (b"1 1:1 2:", "the value of '2:' is not a number"),
        (b"1 1:2:3", "the value of '1:2:3' is not a number"),
        (b"1 1:1e", "the value of '1:1e' is not a number"),
        (b"1 1:0x10", "the value of '1:0x10' is not a number"),
        (b"1 1:.", "the value of '1:.' is not a number"),
        (b"1 1:\xff", r"the value of '1:\\xff' is not a number"),
        (b"1 2:" + b"x" * 99, "the value of '2:" + "x" * 38 + "…' is not a number"),
        (b"1 -1:1", "the index -1 is not from 0 to 2147483647"),
        (b"1 2147483648:1", "the index 2147483648 is not from 0 to 2147483647"),
        (b"1 3:1 2:1 3:1", "the index 3 occurs twice"),
    ],
)
def test_bad_text_is_one_line_with_its_place(tmp_path, block, line, message):
    text = b"1 1:1 2:1e-320\n\n# comment\n0 5:1\n" + line + b"\n1 1:1\nworse\n"
    with pytest.raises(uids.UidsError) as error:
        read(tmp_path / "a", b"1 1:1\n", text, block=block)
    place = f"{tmp_path / 'a' / 'text1'}, line 5: not LIBSVM text: "
    assert str(error.value) == place + message
    if b"3:1 2:1 3:1" not in line:
        with pytest.raises((ValueError, OverflowError)):
            load_svmlight_files([io.BytesIO(text)])


@pytest.mark.parametrize("block", BLOCKS)
def test_more_features_than_there_are(tmp_path, block):
    with pytest.raises(uids.UidsError, match=r"text1: has 7 features, more than 6$"):
        read(tmp_path / "a", b"1 1:1\n", b"1 7:1\n", block=block, features=6)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_text(tmp_path, block, suffix, pack):
    rng = np.random.default_rng(0)
    rows = (
        " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1)) for row in rng.random((30, 9)).tolist()
    )
    text = "".join(f"{i % 3} {row}\n" for i, row in enumerate(rows)).encode()
    found = read(tmp_path / "a", text, block=block, suffix=suffix, pack=pack)
    assert_as_sklearn(found, [text])
    for number, spoilt in enumerate([pack(text)[:-20], b"1 1:1\n", pack(text)[:-90] + b"?" * 90]):
        with pytest.raises(uids.UidsError, match=rf"text0\{suffix}: cannot be read: ") as error:
            read(tmp_path / f"b{number}", b"", block=block, suffix=suffix, pack=lambda _: spoilt)  # noqa: B023
        assert "\n" not in str(error.value)


def test_a_line_left_to_python_does_not_stop_the_scan():
    text = b"1 1:1\n" * 3 + b"1 1:1e-320\n" * 3 + b"\n2 2:2 3:nan\n" + b"3 3:3 4:4\n" * 2
    for found in (parse_block(text, scan), parse_block(text, None)):
        np.testing.assert_array_equal(found.ends, [1, 2, 3, 4, 5, 6, 8, 10, 12])
        np.testing.assert_array_equal(found.labels, [1] * 6 + [2, 3, 3])
        np.testing.assert_array_equal(found.indices, [0] * 6 + [1, 2, 2, 3, 2, 3])
        assert found.values[3] == 1e-320
        assert found.lines == 10


@pytest.mark.parametrize("text", [b"1 1:1 3:2\n2 4:1\n", b"1 0:1 2:2\n2 3:1\n"])
def test_many_entries_have_wide_indices(tmp_path, text):
    """As when there are more than 2³¹ of them. scipy makes those of a small matrix narrow again."""
    for block in BLOCKS:
        parts = read(tmp_path / str(block), text, block=block, index=np.int64)
        assert_as_sklearn(parts, [text])
        for name in ("indices", "indptr"):
            array = np.load(tmp_path / str(block) / "arrays" / f"part0-{name}.npy")
            assert array.dtype == np.int64


def test_the_most_features(tmp_path):
    ((X, _),) = read(tmp_path / "a", b"1 0:1 2147483647:1\n", block=SMALL)
    assert X.shape == (1, 2**31)
    np.testing.assert_array_equal(X.indices, [0, 2**31 - 1])


def test_an_array_that_grows(tmp_path):
    pieces = [np.arange(n, dtype=np.int32) for n in (0, 3, 10**5)]
    with GrowingArray(tmp_path / "a.npy", np.int32) as grown:
        for piece in pieces:
            grown.append(piece)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.concatenate(pieces))


def test_a_small_file_does_not_wait_for_numba(tmp_path):
    (tmp_path / "a").write_text("1 1:1\n")
    code = (
        "import sys; from pathlib import Path; from uids.datasets.formats.libsvm import parse; "
        "parse({'train': Path('a')}, Path('.')); sys.exit('numba' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Of two files, one eight times the other's size, in blocks of 256 KiB."""
    code = """
import resource, sys
from pathlib import Path
from uids.datasets.formats.libsvm import parse
from uids.datasets.formats.libsvm_kernel import scan
def peak(text, times):
    Path("text").write_bytes(b"")
    with open("text", "ab") as file:
        for _ in range(times):
            file.write(text)
    parse({"train": Path("text")}, Path("."), block=2**18)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
row = b"1 " + b" ".join(b"%d:0.5" % i for i in range(1, 40)) + b"\\n"
text = row * (2**20 // len(row))
first = peak(text, 5)
print(peak(text, 40) - first)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    grown = int(done.stdout) * (1 if sys.platform == "darwin" else 1024)
    assert (tmp_path / "train-data.npy").stat().st_size > 40e6
    assert grown < 8e6  # against 35 MiB more text, and more than that of arrays


@pytest.mark.parametrize("pack", [bytes, bz2.compress])
def test_progress_is_told_in_bytes_of_the_file(tmp_path, told, pack):
    text, suffix = b"1 1:1\n" * 100, "" if pack is bytes else ".bz2"
    read(tmp_path / "a", text, block=240, suffix=suffix, pack=pack)
    size = len(pack(text))
    steps = [240, 480, 600] if pack is bytes else [size] * 3
    assert told == [(f"read text0{suffix}", done, size) for done in steps]


REAL = ["a1a.t", "skin_nonskin.bz2", "covtype.libsvm.binary.scale.bz2", "news20-rebuilt.libsvm.bz2"]


@pytest.mark.parametrize("name", REAL)
def test_real_files(tmp_path, name):
    """The beginning of each, since scikit-learn takes its time."""
    path = real_data.file(name)
    with libsvm.OPENERS.get(path.suffix, open)(path, "rb") as file:
        text = file.read(500_000) + file.readline()
    for block in (SMALL, 2**16):
        assert_as_sklearn(read(tmp_path / str(block), text, block=block), [text])
