"""Who is on a generation's panel."""


def get_panel_input(wildcards):
    """Every match of the panel, and the ladder files that say whose weights its champions are."""
    name = wildcards.generation
    return {
        "ladders": [f"{OUT}/ladder/{one}.json" for one in PROJECT.lineage(name)],
        "matches": [match_file(match) for match in roster.panel_matches(PROJECT, name)],
        "round_robin": f"{OUT}/round_robin/{GENERATIONS[name].game}.json",
    }


def panel_members(wildcards):
    """The configured networks of a generation's panel, and the sha256 of each."""
    names = roster.panel_networks(PROJECT, wildcards.generation)
    return {name: PROJECT.panel["members"][name]["sha256"] for name in names}


def panel_anchor(wildcards):
    """The scripted player of a generation's game whose rating is 0."""
    return PROJECT.panel["anchor"][GENERATIONS[wildcards.generation].game]
