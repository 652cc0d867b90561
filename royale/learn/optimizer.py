"""AdamW, or Muon for the inner weight matrices and AdamW for the rest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from royale.learn.network import Network
from royale.learn.recipe import Recipe

BETAS = (0.9, 0.999)
MUON_MOMENTUM = 0.95
# What the optimizers keep of each parameter; `step` is a scalar.
QUANTITIES = {"adamw": ("step", "exp_avg", "exp_avg_sq"), "muon": ("momentum_buffer",)}


class NetworkOptimizer:
    """The optimizers of one network behind one `step`.

    Muon (Jordan et al. 2024) takes matrices only, so a convolution's weight (O, I, h, w)
    is shown to it as a parameter of shape (O, I*h*w) that shares the weight's storage;
    its gradient is passed on at each step. Learning rates follow AdamW's scale (Liu et
    al. 2025, "Muon is scalable for LLM training"), so both optimizers share one.
    """

    def __init__(self, network: Network, recipe: Recipe) -> None:
        self.kind, self.learning_rate = recipe.optimizer, recipe.learning_rate
        named = dict(network.named_parameters())
        inner = []
        if self.kind == "muon":
            inner = [n for n, p in named.items() if n.startswith("blocks.") and p.ndim >= 2]
        elif self.kind != "adamw":
            raise ValueError(f"optimizer: {self.kind!r} is neither 'muon' nor 'adamw'")
        self._adamw_names = [n for n in named if n not in inner]
        self._adamw = torch.optim.AdamW(
            [named[n] for n in self._adamw_names],
            lr=recipe.learning_rate,
            betas=BETAS,
            weight_decay=recipe.weight_decay,
            fused=True,
        )
        self._sources = {n: named[n] for n in inner}
        self._views = {n: nn.Parameter(named[n].detach().flatten(1)) for n in inner}
        self._muon = None
        if inner:
            self._muon = torch.optim.Muon(
                list(self._views.values()),
                lr=recipe.learning_rate,
                weight_decay=recipe.weight_decay,
                momentum=MUON_MOMENTUM,
                adjust_lr_fn="match_rms_adamw",
            )
        self._parameters = list(named.values())

    def coverage(self) -> dict[str, dict[str, object]]:
        """What each optimizer class in use covers: its parameters' names and count."""
        out = {type(self._adamw).__name__: self._describe(self._adamw, self._adamw_names)}
        if self._muon is not None:
            out[type(self._muon).__name__] = self._describe(self._muon, list(self._views))
        return out

    @staticmethod
    def _describe(optimizer: torch.optim.Optimizer, names: list[str]) -> dict[str, object]:
        held = sum(p.numel() for group in optimizer.param_groups for p in group["params"])
        return {"parameters": held, "names": names}

    def warm(self, factor: float) -> None:
        """Scale the recipe's learning rate for the steps to come."""
        for optimizer in (self._adamw, self._muon):
            if optimizer is not None:
                for group in optimizer.param_groups:
                    group["lr"] = self.learning_rate * factor

    def clip_gradients(self, max_norm: float) -> Tensor:
        """Scale the gradients down to the global norm `max_norm`; the norm before, (),."""
        return nn.utils.clip_grad_norm_(self._parameters, max_norm, foreach=True)

    def step(self) -> None:
        """Apply the gradients and clear them."""
        self._adamw.step()
        if self._muon is not None:
            for name, view in self._views.items():
                view.grad = self._sources[name].grad.reshape(view.shape)
            self._muon.step()
        for parameter in self._parameters:
            parameter.grad = None

    def _members(self) -> list[tuple[str, torch.optim.Optimizer, list[tuple[str, nn.Parameter]]]]:
        adamw = self._adamw.param_groups[0]["params"]
        members = [("adamw", self._adamw, list(zip(self._adamw_names, adamw, strict=True)))]
        if self._muon is not None:
            members.append(("muon", self._muon, list(self._views.items())))
        return members

    def state_tensors(self) -> dict[str, Tensor]:
        """The optimizers' state as "class/parameter/quantity" -> tensor (not copied)."""
        return {
            f"{kind}/{name}/{quantity}": tensor
            for kind, optimizer, parameters in self._members()
            for name, parameter in parameters
            for quantity, tensor in optimizer.state.get(parameter, {}).items()
        }

    def expected_arrays(self, prefix: str = "") -> dict[str, np.ndarray]:
        """Arrays of the names (after `prefix`), shapes and types of `state_tensors`; no values."""
        return {
            f"{prefix}{kind}/{name}/{quantity}": np.empty(
                () if quantity == "step" else tuple(parameter.shape), np.float32
            )
            for kind, _, parameters in self._members()
            for name, parameter in parameters
            for quantity in QUANTITIES[kind]
        }

    def load_state_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Restore `state_tensors`; KeyError names entries that no parameter owns."""
        left = dict(tensors)
        for _, optimizer, _ in self._members():
            optimizer.state.clear()
        for kind, optimizer, parameters in self._members():
            for name, parameter in parameters:
                prefix = f"{kind}/{name}/"
                keys = [k for k in left if k.startswith(prefix)]
                state = {}
                for key in keys:
                    quantity = key[len(prefix) :]
                    # fused AdamW wants its step count on the parameter's device
                    state[quantity] = left.pop(key).to(parameter.device)
                if state:
                    optimizer.state[parameter] = state
        if left:
            raise KeyError(f"optimizer state of no parameter: {sorted(left)}")
