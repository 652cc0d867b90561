rule export:
    """Export a champion for the real competition, and prove that it plays as it did here."""
    input:
        champion=f"{OUT}/ladder/{{generation}}/champion.safetensors",
    output:
        bundle=f"{OUT}/export/{{generation}}/bot.npz",
        onnx=f"{OUT}/export/{{generation}}/bot.onnx",
        parity=f"{OUT}/export/{{generation}}/parity.json",
    log:
        f"{OUT}/logs/export/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/export/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
        gpu=0,
    params:
        turns=663,
    message:
        "Exporting the champion of {wildcards.generation}"
    script:
        "../../scripts/export.py"


rule network_onnx:
    """A champion's network of any game as an ONNX file, and proof that it decides alike."""
    input:
        champion=f"{OUT}/ladder/{{generation}}/champion.safetensors",
    output:
        onnx=f"{OUT}/onnx/{{generation}}/net.onnx",
        parity=f"{OUT}/onnx/{{generation}}/parity.json",
    log:
        f"{OUT}/logs/network_onnx/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/network_onnx/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
        gpu=0,
    params:
        moves=300,
    message:
        "The network of {wildcards.generation}'s champion as ONNX"
    script:
        "../../scripts/network_onnx.py"
