"""The arithmetic of forward and backward passes; weights and optimizer stay float32."""

from __future__ import annotations

import torch
from torch import Tensor

from royale.errors import ConfigError
from royale.learn.network import Network

# The most that a log-probability recomputed before the first step may differ from the
# stored one. float32 convolutions of another batch size differ by about 1e-6; bfloat16
# has 8 bits of mantissa, so a logit of 10 may be rounded by 0.04.
ON_POLICY_TOLERANCE = {"fp32": 1e-3, "bf16": 5e-2}


class Precision:
    """Runs a network in the recipe's precision on one device.

    bf16 is torch's autocast: convolutions and linear layers in bfloat16, normalisation in
    float32. ConfigError where the device has no such arithmetic, naming what is allowed.
    """

    def __init__(self, name: str, device: str) -> None:
        self.name, self.kind = name, torch.device(device).type
        if name == "fp8":
            why = (
                "a CPU has no 8-bit floating point arithmetic"
                if self.kind == "cpu"
                else f"torch {torch.__version__} has no float8 convolution on {self.kind}"
            )
            raise ConfigError(f"recipe key 'precision' = 'fp8': {why}; allowed: fp32, bf16")
        if name == "bf16" and self.kind == "cuda" and not torch.cuda.is_bf16_supported(False):
            card = torch.cuda.get_device_name(device)
            raise ConfigError(
                f"recipe key 'precision' = 'bf16': {card} has no bfloat16 arithmetic; allowed: fp32"
            )
        self.tolerance = ON_POLICY_TOLERANCE[name]

    def forward(
        self, network: Network, seen: Tensor | tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """What `expand` gave -> logits (B, A) and value outputs (B, bins), both float32."""
        if self.name == "fp32":
            return network(seen)
        with torch.autocast(self.kind, torch.bfloat16):
            logits, outputs = network(seen)
        return logits.float(), outputs.float()

    @torch.no_grad()
    def compute_dtype(self, network: Network) -> str:
        """The type in which a forward pass really convolves, seen by running one."""
        seen = []
        hook = network.policy.register_forward_hook(lambda module, given, out: seen.append(out))
        try:
            weight = network.stem.weight
            planes = torch.zeros(1, weight.shape[1], 4, 4, device=weight.device)
            given = planes
            if network.vector is not None:
                given = planes, planes.new_zeros(1, network.vector.in_features)
            self.forward(network, given)
        finally:
            hook.remove()
        return str(seen[0].dtype).removeprefix("torch.")
