"""A trained network as a player."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from royale import rng
from royale.games import load as load_game
from royale.games.protocol import View
from royale.learn import checkpoint, untrusted
from royale.learn.network import build_network
from royale.learn.sampling import pack_legal, sample, single_action

CHUNK = 1024  # rows a forward pass: bounds memory whatever the match's size


class NetworkPlayer:
    """Plays the averaged weights of a champion's weights file or of a checkpoint.

    Samples the policy at temperature 1 from the view's keys, or takes its greatest
    action. FileError or LayoutError if the file is not fit.
    """

    def __init__(self, path: Path, greedy: bool = False, device: str = "cpu") -> None:
        arrays, self.meta = checkpoint.load(Path(path))
        recipe = untrusted.network_recipe(arrays, self.meta, Path(path))
        try:
            game = load_game(self.meta["game"])
            self.spec = game.spec(self.meta["settings"], recipe.encoder)
        except (KeyError, TypeError, ValueError) as error:
            raise untrusted.FileError(f"{path}: no game that is known: {error}") from error
        self.expand, self.greedy, self.device = game.expand, greedy, device
        self.network = build_network(self.spec, recipe, 0, device).requires_grad_(False)
        checkpoint.load_network(self.network, arrays, self.meta, Path(path), "ema")

    @torch.inference_mode()
    def logits(self, codes: np.ndarray, scalars: np.ndarray) -> torch.Tensor:
        """codes (B, C...) uint8 and scalars (B, S) float32 -> logits (B, A)."""
        moved = torch.from_numpy(codes).to(self.device), torch.from_numpy(scalars).to(self.device)
        return self.network(self.expand(*moved, self.spec.encoder))[0]

    def act(self, view: View) -> np.ndarray:
        """Flat legal actions (R,) int32; see `protocol.Player`."""
        packed = pack_legal(view.legal)
        actions, choice = single_action(packed, self.spec.n_actions)
        asked = np.flatnonzero(choice)
        for start in range(0, asked.size, CHUNK):
            rows = asked[start : start + CHUNK]
            logits = self.logits(view.codes[rows], view.scalars[rows])
            uniforms = rng.uniform(view.keys[rows])
            actions[rows] = sample(logits, packed[rows], uniforms, self.greedy).action
        return actions
