"""A champion for use elsewhere: the competition bot, an ONNX file, and proof that both play alike."""
