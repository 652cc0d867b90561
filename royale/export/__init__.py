"""A champion for use elsewhere: the competition's bot, an ONNX file, and proof of parity."""
