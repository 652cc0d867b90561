"""What the close-out watch is made from."""


def watch_rivals(wildcards):
    """The scripted players of a generation's game, which do not learn."""
    return list(games.load(GENERATIONS[wildcards.generation].game).scripted)


def watch_files(generation):
    """The watch of every segment of a generation."""
    return [
        f"{OUT}/watch/{generation}/{arm}/seed{seed}/segment{segment}.json"
        for arm, seed, segment in segments_of(generation)
    ]


def get_watch_input(wildcards):
    """The watch of all segments of a generation and its ancestors, and who was promoted."""
    lineage = PROJECT.lineage(wildcards.generation)
    return {
        "ladder": f"{OUT}/ladder/{wildcards.generation}.json",
        "segments": [path for name in lineage for path in watch_files(name)],
    }
