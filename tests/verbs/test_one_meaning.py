"""An option has one meaning, whatever verb has it."""

from __future__ import annotations

import click
import pytest

from gridcore.registry import commands

OPTIONS = [(verb, option) for verb in sorted(commands) for option in commands[verb].command.params
           if isinstance(option, click.Option)]


def of(name):
    """The option of this name, of every verb that has it."""
    found = [(verb, option) for verb, option in OPTIONS if name in option.opts]
    assert len(found) > 1
    return found


def test_out_is_a_folder():
    for verb, option in of("--out"):
        assert isinstance(option.type, click.Path), verb
        assert option.type.dir_okay, verb
        assert "Folder" in option.help, verb


def test_to_is_a_file():
    for verb, option in of("--to"):
        assert not option.type.dir_okay, verb
        assert option.metavar == "FILE", verb


@pytest.mark.parametrize("name", ["--bounds", "--method", "--step", "--t-end", "--set", "--option", "--theta",
                                  "--jumps", "--dispatch", "--joint", "--rtol", "--atol", "--with", "--json"])
def test_what_it_takes_is_written_in_one_way(name):
    assert len({(option.metavar, option.type.name, option.multiple, option.is_flag) for _, option in of(name)}) == 1


def test_a_method_is_an_integrator_and_bounds_are_of_parameters():
    assert {option.help for _, option in of("--method")} == {
        "Integrator: theta, trbdf2, bdf, ida, or another plugin's."}
    assert {option.help for _, option in of("--bounds")} == {
        "Bounds of parameters, of which either may be left out. May be repeated."}
