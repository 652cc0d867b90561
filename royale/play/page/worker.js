// The network, in a thread of its own so that the page stays quick. One request at a time.

import * as ort from "./vendor/ort.js";

ort.env.wasm.numThreads = 1; // more would need headers that a plain file server does not send
ort.env.wasm.wasmPaths = { wasm: new URL("./vendor/ort.wasm", import.meta.url).href };

const session = ort.InferenceSession.create(new URL("./bot.onnx", import.meta.url).href, {
  executionProviders: ["wasm"],
});

onmessage = async ({ data: { id, planes, shape } }) => {
  try {
    const tensor = new ort.Tensor("float32", planes, shape);
    const { logits, value } = await (await session).run({ planes: tensor });
    postMessage({ id, logits: logits.data, value: value.data });
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
};
