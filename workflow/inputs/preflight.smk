"""What the preflights look at."""


def ladder_doctor(generation):
    """The preflight of a generation's ladder."""
    return f"{OUT}/doctor/{PROJECT.profile_name}/{GENERATIONS[generation].ladder}.json"


def arm_doctors(generations):
    """The preflights of those generations whose arms change what a machine must be asked."""
    return [
        f"{OUT}/doctor/{PROJECT.profile_name}/{GENERATIONS[name].ladder}/{name}.json"
        for name in generations
        if GENERATIONS[name].parent and needs_doctor(GENERATIONS[name].changes)
    ]


def root_of_ladder(wildcards):
    """The root of a ladder as it is trained."""
    return ROOTS[wildcards.ladder]
