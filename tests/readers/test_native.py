import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridcore.case import Case, load_case, save_case, validate
from gridcore.case.files import shipped
from gridcore.contract import Bus, Device, Param, Record
from gridcore.errors import CaseError
from gridcore.registry import registered
from gridcore_readers import native

TWO_BUS = """\
# a comment
name = "two"
base_mva = "0.1 GVA"
frequency = 50
source = "a book, with [brackets] and {braces} # and a hash"
remarks = '''
several = [ lines
{ of } text'''

Bus = [
  {id = 1, kv = 20},  # slack {
  {id = 2}, {id = "North", Vm0 = 1.02},
]
Machine = [ {id = "GEN1", bus = 1, H = "6400 ms"} ]

[[Line]]
bus1 = 1
bus2 = 2
x = 0.1

[[Line]]
bus1 = 1
bus2 = "North"
x = "0.4 ohm"
"""


class Machine(Device):
    attaches = "bus"
    naming = "GEN{bus}"
    H = Param("s", 1.0)


class Motor(Machine):
    pass


@pytest.fixture
def devices():
    with registered(Bus, Machine, Motor):
        yield


@pytest.fixture
def read(tmp_path):
    def read(text, name="two_bus.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return native.read(path)
    return read


def test_headings_text_and_rows_are_read(read):
    case = read(TWO_BUS)
    assert (case.name, case.title, case.base_mva, case.frequency) == ("two", "", 100.0, 50)
    assert case.about["source"] == "a book, with [brackets] and {braces} # and a hash"
    assert [r.model for r in case] == ["Bus", "Bus", "Bus", "Machine", "Line", "Line"]
    assert case.records[3].fields == {"id": "GEN1", "bus": 1, "H": "6400 ms"}


def test_every_row_knows_its_line(read):
    case = read(TWO_BUS)
    starts = ('{id = 1', '{id = 2', '{id = "North', '{id = "GEN1', '[[Line', '[[Line]]\nbus1 = 1\nbus2 = "N')
    lines = [TWO_BUS[:TWO_BUS.index(start)].count("\n") + 1 for start in starts]
    rows = ["Bus row 1", "Bus row 2", "Bus row 3", "Machine row 1", "Line row 1", "Line row 2"]
    assert [r.row for r in case] == [f"{row} (line {line})" for row, line in zip(rows, lines)]


def test_the_name_is_the_files_or_for_a_case_folder_the_folders(read, tmp_path):
    assert read("base_mva = 10").name == "two_bus"
    assert read("base_mva = 10", "case.toml").name == tmp_path.name


@pytest.mark.parametrize(("written", "kept"), [("5", "5"), ("0.5", "0.5"), ("'500 ms'", "500 ms"), ("'5'", "5")])
def test_a_recommended_end_is_kept_as_it_was_written(read, tmp_path, written, kept):
    case = read(f"t_end = {written}")
    assert case.about == {"t_end": kept}
    for name in ("again.toml", "again.xlsx"):
        save_case(case, tmp_path / name)
        assert load_case(tmp_path / name).about == case.about


@pytest.mark.parametrize(("text", "says"), [
    ("Bus = [\n {id = 1},\n {id = }\n]", r"is not valid TOML: .*line 3"),
    ("name = 'a'\nname = 'b'\n# end", r"is not valid TOML: .*line 2"),
    ("frequncy = 50", r"field 'frequncy': unknown setting; did you mean frequency"),
    ("frequncy = '50 Hz'", r"field 'frequncy': unknown setting; did you mean frequency"),
    ("tend = 5", r"field 'tend': unknown setting; did you mean t_end"),
    ("t_end = -1", r"field 't_end': -1 must be a number of seconds above 0, or a text such as '500 ms'"),
    ("t_end = true", r"field 't_end': True must be"),
    ("t_end = 'soon'", r"field 't_end': 'soon' must be"),
    ("t_end = '5 ohm'", r"field 't_end': '5 ohm' must be"),
    ("base_mva = '100 kV'", r"field 'base_mva': unit 'kV' is not understood here; accepted: MVA"),
    ("name = 5", r"field 'name'"),
    ("[Bus]\nid = 1", r"field 'Bus': a model is an array of rows: Bus = \[ .* or \[\[Bus\]\];"),
    ("[case]\nname = 'a'", r"field 'case': .*; name, .*t_end of the case are in no table, above all rows"),
    ("Bus = [1]", r"Bus row 1: 1 is not a row"),
])
def test_a_malformed_file_is_told_on_one_line_with_the_place(read, text, says):
    with pytest.raises(CaseError, match=r"two_bus\.toml: " + says) as caught:
        read(text)
    assert "\n" not in str(caught.value)


def test_what_is_not_text_or_not_there_is_told(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"name = '\xff\xfe'")
    with pytest.raises(CaseError, match=r"binary\.toml: is not UTF-8 text"):
        native.read(tmp_path / "binary.toml")
    with pytest.raises(CaseError, match="cannot be read: No such file"):
        native.read(tmp_path / "none.toml")


def test_code_in_a_case_file_is_a_word_and_no_more(read):
    word = "__import__('os').abort()"
    assert read(f'Bus = [{{id = "{word}"}}]').records[0].fields == {"id": word}


numbers = st.one_of(st.floats(allow_nan=False), st.integers(-2**63, 2**63 - 1), st.booleans())
words = st.text(st.characters(codec="utf-8"), max_size=20)


@settings(max_examples=60, deadline=None)
@given(title=words, about=words, key=words, values=st.lists(numbers | words, min_size=1, max_size=6))
def test_what_is_written_reads_back_identical_to_the_last_bit(tmp_path_factory, title, about, key, values):
    case = Case("any", title, 1 / 3, 50.0, {"source": about})
    for value in values:
        case.add(Record("Bus", {"id": 1, key: value}))
    path = tmp_path_factory.mktemp("native") / "case.toml"
    native.write(case, path)
    back = native.read(path)
    assert back == case
    written, found = ([(type(v), repr(v)) for r in c for v in r.fields.values()] for c in (case, back))
    assert found == written


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_case_of_any_models_reads_back_with_its_names_values_and_notes(tmp_path_factory, data):
    """Rows of several models, mixed, with names and without; grouped by model, all of them are the same devices."""
    buses = data.draw(st.integers(2, 6))
    case = Case("any", "any", 1 / 3, 50.0)
    case.note(data.draw(words))
    for bus in range(1, buses + 1):
        case.add(Record("Bus", {"id": bus, "label": data.draw(words)}))
    finite = st.floats(1e-3, 1e3)
    for n in range(data.draw(st.integers(1, 8))):
        bus = data.draw(st.integers(1, buses))
        fields = data.draw(st.sampled_from([{}, {"id": f"X{n}"}, {"status": 0}]))
        case.add(data.draw(st.sampled_from([
            Record("ZIP", {**fields, "bus": bus, "P0": data.draw(finite)}),
            Record("StaticGenerator", {**fields, "bus": bus, "P0": data.draw(finite)}),
            Record("Shunt", {**fields, "bus": bus, "b": data.draw(finite)})])))
    path = tmp_path_factory.mktemp("native") / "any.toml"
    native.write(case, path)
    back = native.read(path)
    assert (back.title, back.base_mva, back.frequency, back.about) == (case.title, 1 / 3, 50.0, case.about)
    ours, theirs = ({i.id: (i.model, i.values, i.words, i.ports, i.in_service) for i in validate(c).records}
                    for c in (back, case))
    assert ours == theirs


def test_one_row_is_one_line(tmp_path):
    case = Case("two", records=[Record("Bus", {"id": 1, "kv": 16.5}), Record("Bus", {"id": "North"})])
    native.write(case, tmp_path / "two.toml")
    assert (tmp_path / "two.toml").read_text() == (
        'name = "two"\nbase_mva = 100.0\nfrequency = 60.0\n\n'
        'Bus = [\n  {id = 1, kv = 16.5},\n  {id = "North"},\n]\n')


def test_text_of_several_lines_stays_text_of_several_lines(tmp_path):
    case = Case("x", about={"source": 'A "book",\nchapter \\7.'})
    native.write(case, tmp_path / "x.toml")
    assert 'source = """\nA \\"book\\",\nchapter \\\\7."""\n' in (tmp_path / "x.toml").read_text()
    assert native.read(tmp_path / "x.toml") == case


@pytest.mark.parametrize("name", shipped())
def test_shipped_cases_are_valid_and_write_back_identical(name, tmp_path):
    case = load_case(name)
    native.write(case, tmp_path / "case.toml")
    back = native.read(tmp_path / "case.toml")
    assert back == case
    ours, theirs = ([(i.id, i.values, i.words, i.ports) for i in validate(c).records] for c in (back, case))
    assert ours == theirs


def test_rows_grouped_by_model_keep_the_names_they_had(devices, tmp_path):
    rows = [Bus(id=1), Machine(bus=1, H=1), Motor(bus=1, H=2), Machine(bus=1, H=3)]
    case = Case("mixed", records=rows)
    assert case.ids() == ["BUS1", "GEN1", "GEN1_2", "GEN1_3"]
    native.write(case, tmp_path / "mixed.toml")
    back = native.read(tmp_path / "mixed.toml")
    assert [back[id].fields["H"] for id in ("GEN1", "GEN1_2", "GEN1_3")] == [1, 2, 3]


def test_what_the_format_cannot_hold_is_refused(tmp_path):
    with pytest.raises(CaseError, match=r"field 'H': \[1\] is neither a number nor text"):
        native.write(Case("x", records=[Record("Bus", {"id": 1, "H": [1]})]), tmp_path / "x.toml")
    with pytest.raises(CaseError, match=r"field 'title': two of the headings"):
        native.write(Case("x", about={"title": "twice"}), tmp_path / "x.toml")


def test_the_suffix_finds_this_format(tmp_path):
    case = Case("x", records=[Record("Bus", {"id": 1, "Va0": math.pi})])
    save_case(case, tmp_path / "x.toml")
    assert load_case(tmp_path / "x.toml") == case
