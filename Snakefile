from snakemake.utils import min_version

min_version("9.27")


include: "workflow/rules/readable.smk"


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
# Functions that rules get their inputs and params from.
include: "workflow/inputs/preflight.smk"
include: "workflow/inputs/train.smk"
include: "workflow/inputs/match.smk"
include: "workflow/inputs/ladder.smk"
include: "workflow/inputs/watch.smk"
include: "workflow/inputs/panel.smk"
include: "workflow/inputs/target.smk"
include: "workflow/inputs/bench.smk"
include: "workflow/inputs/costs.smk"
include: "workflow/inputs/report.smk"
# The rules, by what they are for.
include: "workflow/rules/preflight.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/match.smk"
include: "workflow/rules/ladder.smk"
include: "workflow/rules/export.smk"
include: "workflow/rules/play.smk"
include: "workflow/rules/watch.smk"
include: "workflow/rules/panel.smk"
include: "workflow/rules/target.smk"
include: "workflow/rules/bench.smk"
include: "workflow/rules/costs.smk"
include: "workflow/rules/report.smk"


# A few seconds each: not worth a queue, nor a rented machine.
localrules:
    all,
    doctor,
    ladder,
    panel,
    report_ladder,
    report_watch,
    wall_clock,
    target,
    costs,
    report_page,
    play_runtime,
    play,
    report_index,


rule all:
    default_target: True
    input:
        f"{OUT}/report/{LAST}.svg",
        f"{OUT}/panel/{LAST}.json",
