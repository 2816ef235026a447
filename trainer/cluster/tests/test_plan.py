"""Plans are read as far as the driver must, and refused by name."""

from pathlib import Path

import pytest

from fairyforge_cluster.driver import levels_up, parts_of
from fairyforge_cluster.errors import BadInput
from fairyforge_cluster.plan import NETWORK_THERE, Extra, Needed, option_words, player_files, read_plan
from fairyforge_cluster.program import Step


def plan_file(folder: Path, text: str) -> Path:
    """A plan on disk."""
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def test_options_become_words_in_order() -> None:
    table = {
        "variant": "chess",
        "shard_games": 4,
        "imbalance": 0.5,
        "player": ["name=a", "name=b nodes=5"],
        "a": "-x.toml",
    }
    assert option_words(table) == [
        "--variant=chess",
        "--shard-games=4",
        "--imbalance=0.5",
        "--player=name=a",
        "--player=name=b nodes=5",
        "--a=-x.toml",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("variant = 'chess'\ngamse = 3", "unknown key `gamse`; the nearest key is `games`"),
        ("variant = 'chess'\nthreads = 3", "unknown key `threads`; fairyforge-cluster gives this option itself"),
        ("variant = 'chess'\ngames = '3'", "`games`: expected int, got '3'"),
        ("variant = 'chess'\ngames = true", "`games`: expected int, got True"),
        ("games = 3", "expected a key `variant`"),
        ("games = ", "is no TOML"),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadInput, match=r"plan\.toml") as refused:
        read_plan("selfplay", plan_file(tmp_path, text))
    assert told in str(refused.value)


def test_all_problems_are_told_together(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        read_plan("match", plan_file(tmp_path, "variant = 'chess'\npears = 3\nplayer = 'name=a'"))
    assert "`pears`" in str(refused.value)
    assert "`player`: expected list of strings" in str(refused.value)


def test_named_files_are_found_and_words_are_not(tmp_path: Path) -> None:
    (tmp_path / "new.toml").write_text("")
    (tmp_path / "my book.epd").write_text("")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "kqk.bin").write_text("x")
    text = "variant = 'chess'\nplayer = ['weights=new.toml', 'weights=shipped']\nopenings = 'my book.epd'\nendgames = 'tables'"
    plan = read_plan("match", plan_file(tmp_path, text))
    assert [item.words for item in plan.needed()] == ["my book.epd", "new.toml", "tables/kqk.bin"]


def test_files_of_plans_of_the_program_are_found_in_tables_and_in_named_plans(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "my.toml").write_text("name = 'mine'")
    (tmp_path / "w.toml").write_text("")
    (tmp_path / "experiment.toml").write_text("variant = 'games/../my.toml'\nweights = 'w.toml'")
    text = "variant = 'my.toml'\nexperiment = 'experiment.toml'\n[[claim]]\nid = 'w.toml'"
    plan = read_plan("claims", plan_file(tmp_path, text), Extra(budget="10"))
    named = [item.words for item in plan.needed()]
    assert named == ["experiment.toml", "games/../my.toml", "my.toml", "plan.toml", "w.toml"]
    assert plan.place() == tmp_path
    assert plan.words_here() == plan.words_there() == ["claims", "run", "plan.toml", "--budget=10"]


def test_a_network_option_is_sent(tmp_path: Path) -> None:
    (tmp_path / "n.net").write_text("x")
    plan = read_plan("values", plan_file(tmp_path, "variant = 'chess'"), Extra(network=str(tmp_path / "n.net")))
    assert Needed(NETWORK_THERE, tmp_path / "n.net") in plan.needed()
    assert plan.words_here()[-1] == f"--network={tmp_path / 'n.net'}"
    assert plan.words_there()[-1] == f"--network={NETWORK_THERE}"
    word = read_plan("values", plan.path, Extra(network="none"))
    assert word.words_there() == word.words_here() == ["values", "run", "plan.toml", "--network=none"]


def test_files_are_beside_the_plan_or_where_the_user_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "w.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    plan = read_plan("loop", plan_file(tmp_path / "plans", "variant = 'chess'\nstart = 'w.toml'"))
    assert plan.place() == tmp_path
    assert plan.words_here() == ["loop", str(tmp_path / "plans" / "plan.toml")]
    assert plan.words_there() == ["loop", "plan.toml"]
    (tmp_path / "plans" / "mine.toml").write_text("")
    plan = read_plan("loop", plan_file(tmp_path / "plans", "variant = 'mine.toml'\nstart = 'w.toml'"))
    with pytest.raises(BadInput, match=r"expected all files beside the plan, or none; mine\.toml is, w\.toml is not"):
        plan.place()


def test_players_words_may_be_quoted() -> None:
    assert list(player_files("name=x weights='a b.toml' search=s.toml nodes=3")) == ["a b.toml", "s.toml"]
    assert list(player_files("weights='open")) == []


@pytest.mark.parametrize(
    ("command", "text", "may"),
    [
        ("match", "variant='chess'\npairs=3", False),
        ("match", "variant='chess'\nelo0=0\nelo1=5.5", True),
        ("loop", "variant='chess'\n[match]\npairs=3", False),
        ("loop", "variant='chess'\n[match.sprt]\nelo0=0", True),
        ("tune", "variant='chess'\n[confirm]\nelo0=0", True),
        ("values", "variant='chess'", False),
    ],
)
def test_what_a_test_may_end(tmp_path: Path, command: str, text: str, may: bool) -> None:
    assert read_plan(command, plan_file(tmp_path, text)).may_end_early() is may


def test_levels_up_are_counted_after_detours() -> None:
    assert levels_up([]) == 0
    assert levels_up(["a/b", "a/../b"]) == 0
    assert levels_up(["../x", "../../y/z", "a/../../x"]) == 2


def test_parts_are_few_for_few_games_and_short_for_many() -> None:
    games = Step("selfplay/001", "games", 1000, 1000)
    assert parts_of(games, 2, None, may_end=False) == 8
    assert parts_of(games, 1000, None, may_end=False) == 125
    assert parts_of(Step("selfplay/001", "games", 10**6, 10**6), 2, None, may_end=False) == 2000
    assert parts_of(Step("journal.jsonl", "pairs", 3, 3), 2, None, may_end=False) == 1
    assert parts_of(games, 2, 5, may_end=False) == 5
    assert parts_of(Step("x", "positions", 2, 2), 2, 5, may_end=False) == 2
    assert parts_of(Step("journal.jsonl", "pairs", 400, 400), 2, None, may_end=True) == 50
