"""Who plays a match: weights, and what stands behind the names."""


def get_player_file(player):
    """The weights of a player, or nothing for one that is no network."""
    if roster.kind(PROJECT, player) != "network":
        return []
    if player.other:
        return [PROJECT.panel["members"][player.other]["file"]]
    generation, arm, seed = player.generation, player.arm, player.seed
    if player.is_champion:
        return [f"{OUT}/ladder/{generation}/champion.safetensors"]
    if player.wall_clock:
        return [f"{OUT}/wall_clock/{generation}/seed{seed}/{arm}.safetensors"]
    last = PROJECT.segments(generation) - 1
    segment = last if player.segment is None else player.segment
    return [f"{segment_folder(generation, arm, seed, segment)}/checkpoint.safetensors"]


def get_match_input(wildcards):
    """The weights of both players of a match."""
    match = MatchName.parse(wildcards.match)
    return {"a": get_player_file(match.a), "b": get_player_file(match.b)}


def match_players(wildcards):
    """What stands behind the two names of a match."""
    match = MatchName.parse(wildcards.match)
    return {side: roster.describe(PROJECT, player) for side, player in zip("ab", match.players)}


def match_game(wildcards):
    """The game of a match."""
    try:
        return roster.match_game(PROJECT, MatchName.parse(wildcards.match))
    except RoyaleError as error:
        raise WorkflowError(f"results/matches/{wildcards.match}.json: {error}")


def match_settings(wildcards):
    """The settings of a match's game on this machine."""
    return PROJECT.sizes(match_game(wildcards))["settings"]


def match_test(wildcards):
    """The sequential test of a match, or None for one of fixed size."""
    return roster.sequential(PROJECT, MatchName.parse(wildcards.match))
