"""The network as an ONNX graph, built node by node.

By hand and not by torch's exporter: the network is small, the file is then the
same for every version of torch, and nothing but `onnx` is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from royale.files import write_bytes

OPSET = 17
IR_VERSION = 8  # the one of opset 17's time: old runtimes read it too


class _Graph:
    """Collects nodes and weights; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, name: str, value: np.ndarray) -> str:
        from onnx import numpy_helper

        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, to: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = to or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name


def build(weights: dict[str, np.ndarray], meta: dict[str, Any]) -> Any:
    """onnx.ModelProto: planes (B, P, H, W) -> logits (B, A*H*W + G), value (B, bins), float32.

    A network whose game has features that lie on no cell has a second input, vector (B, V).
    weights and meta: a bundle's, or those of `royale.export.portable`, which has `board` [H, W]
    in place of `canvas` (the side of a square). value is the head's outputs, not decoded.
    """
    from onnx import TensorProto, checker, helper

    height, width = meta["board"] if "board" in meta else (meta["canvas"], meta["canvas"])
    n_planes = len(meta["planes"])
    spatial = meta["action_planes"]
    graph = _Graph()
    for name in sorted(weights):
        graph.weight(name, weights[name])
    # LayerNormalization wants a scale; the network has none.
    graph.weight("one", np.ones(2 * meta["channels"], np.float32))
    graph.weight("axes", np.array([2, 3], np.int64))

    def layer(kind: str, x: str, name: str, **attributes: Any) -> str:
        return graph.add(kind, x, f"{name}.weight", f"{name}.bias", **attributes)

    def pool(x: str) -> str:
        mean = graph.add("GlobalAveragePool", x)
        greatest = graph.add("GlobalMaxPool", x)
        both = graph.add("Flatten", graph.add("Concat", mean, greatest, axis=1))
        return graph.add("LayerNormalization", both, "one", axis=1, epsilon=1e-5)

    padded = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    x = layer("Conv", "planes", "stem", **padded)
    if "vector.weight" in weights:
        features = graph.add("Gemm", "vector", "vector.weight", transB=1)
        x = graph.add("Add", x, graph.add("Unsqueeze", features, "axes"))
    for k in range(meta["blocks"]):
        block = f"blocks.{k}"
        context = layer("Gemm", pool(x), f"{block}.context", transB=1)
        y = layer("Conv", graph.add("Relu", x), f"{block}.conv", **padded)
        y = graph.add("Add", y, graph.add("Unsqueeze", context, "axes"))
        y = layer("Conv", graph.add("Relu", y), f"{block}.last", kernel_shape=[1, 1])
        x = graph.add("Add", x, y)
    x = graph.add("Relu", x)
    maps = layer("Conv", x, "policy", kernel_shape=[1, 1])
    for name, value in (("zero", 0), ("split", spatial), ("end", spatial + meta["global_actions"])):
        graph.weight(name, np.array([value], np.int64))
    graph.weight("channel", np.array([1], np.int64))
    moves = graph.add("Flatten", graph.add("Slice", maps, "zero", "split", "channel"))
    other = graph.add("Slice", maps, "split", "end", "channel")
    other = graph.add("Flatten", graph.add("GlobalAveragePool", other))
    graph.add("Concat", moves, other, axis=1, to="logits")
    hidden = layer("Gemm", pool(x), "value_hidden", transB=1)
    hidden = graph.add("Mul", hidden, graph.add("Sigmoid", hidden))
    layer("Gemm", hidden, "value", transB=1, to="value")

    def port(name: str, *shape: int) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])

    actions = spatial * height * width + meta["global_actions"]
    inputs = [port("planes", n_planes, height, width)]
    if "vector.weight" in weights:
        inputs.append(port("vector", weights["vector.weight"].shape[1]))
    made = helper.make_graph(
        graph.nodes,
        "royale",
        inputs,
        [port("logits", actions), port("value", len(weights["value.bias"]))],
        graph.weights,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    model.producer_name = "royale"
    for key in ("game", "encoder", "champion_sha256", "layout_fingerprint"):
        entry = model.metadata_props.add()
        entry.key, entry.value = key, str(meta[key])
    checker.check_model(model, full_check=True)
    return model


def write(path: Path, weights: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
    """Build and write, whole or not at all; equal contents give equal bytes."""
    write_bytes(path, build(weights, meta).SerializeToString(deterministic=True))


def session(path: Path) -> Any:
    """An onnxruntime session of a file, on one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
