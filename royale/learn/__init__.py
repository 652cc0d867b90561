"""The learner: game-agnostic PPO self-play."""
