"""Rate the permanent panel: every champion of a lineage and the players that never change."""

from royale.evidence import panel
from royale.evidence.generation import check_modes
from royale.evidence.match import check_match
from royale.files import read_json, write_json, write_text
from royale.report import figures
from royale.run.job import job


def main(snakemake, progress):
    params, files = snakemake.params, snakemake.input
    ladders = [read_json(path, "ladder") for path in files.ladders]
    weights = {f"{one['generation']}.champion": one["champion"]["sha256"] for one in ladders}
    weights |= params.members
    matches = []
    for path in files.matches:
        matches.append(read_json(path, "match"))
        check_match(path, matches[-1], weights)
    # ratings need all games: those of a match that stopped early are too far apart
    check_modes(matches, "fixed", None)
    matches += read_json(files.round_robin, "round_robin")["pairs"]
    players, records = panel.merge(matches, weights)
    result = {
        "generation": snakemake.wildcards.generation,
        "game": params.game,
        "profile": params.profile,
        "champions": [name for name in weights if name not in params.members],
        **panel.rate(players, records, params.anchor, params.bar),
    }
    write_json(snakemake.output.record, result, "panel")
    write_text(snakemake.output.table, panel.to_csv(result))
    write_text(snakemake.output.markdown, panel.markdown(result))
    write_text(snakemake.output.plot, figures.panel(result))
    progress.say(panel.reading(result))


with job(snakemake, f"panel {snakemake.wildcards.generation}") as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
