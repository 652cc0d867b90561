"""What a training segment starts from."""


def check_segment(wildcards):
    """Refuse a segment that no arm of the configuration has."""
    arms = GENERATIONS[wildcards.generation].arms
    segments = PROJECT.segments(wildcards.generation)
    if wildcards.arm not in arms or int(wildcards.segment) >= segments:
        raise WorkflowError(
            f"{wildcards.generation} has arms {', '.join(arms)} and {segments} segments an arm; "
            f"there is no {wildcards.arm} segment {wildcards.segment}"
        )


def get_segment_input(wildcards):
    """What a segment starts from: the segment before, the parent's champion, or nothing."""
    check_segment(wildcards)
    name, arm, seed = wildcards.generation, wildcards.arm, wildcards.seed
    parent = GENERATIONS[name].parent
    files = {"doctor": ladder_doctor(name), "arms_doctor": arm_doctors([name])}
    if parent:
        files["parent"] = f"{OUT}/ladder/{parent}.json"
    if int(wildcards.segment):
        before = segment_folder(name, arm, seed, int(wildcards.segment) - 1)
        files["start"] = f"{before}/checkpoint.safetensors"
    elif parent:
        files["start"] = f"{OUT}/ladder/{parent}/champion.safetensors"
    return files
