rule play_runtime:
    """Fetch onnxruntime-web, which runs a network in a browser; once for all pages."""
    output:
        module=f"{OUT}/play/runtime/ort.js",
        wasm=f"{OUT}/play/runtime/ort.wasm",
    log:
        f"{OUT}/logs/play_runtime.log",
    benchmark:
        f"{OUT}/benchmarks/play_runtime.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
        gpu=0,
    message:
        "Fetching onnxruntime-web"
    script:
        "../../scripts/play_runtime.py"


rule play:
    """The page where a champion is played: a folder for any file server, no network needed."""
    input:
        champion=f"{OUT}/ladder/{{generation}}/champion.safetensors",
        onnx=f"{OUT}/export/{{generation}}/bot.onnx",
        parity=f"{OUT}/export/{{generation}}/parity.json",
        module=f"{OUT}/play/runtime/ort.js",
        wasm=f"{OUT}/play/runtime/ort.wasm",
    output:
        page=f"{OUT}/play/{{generation}}/index.html",
        bot=f"{OUT}/play/{{generation}}/bot.json",
        onnx=f"{OUT}/play/{{generation}}/bot.onnx",
        module=f"{OUT}/play/{{generation}}/vendor/ort.js",
        wasm=f"{OUT}/play/{{generation}}/vendor/ort.wasm",
    log:
        f"{OUT}/logs/play/{{generation}}.log",
    benchmark:
        f"{OUT}/benchmarks/play/{{generation}}.tsv"
    conda:
        CONDA_ENV
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
        gpu=0,
    params:
        profile=PROJECT.profile_name,
    message:
        "The page of the champion of {wildcards.generation}"
    script:
        "../../scripts/play.py"


rule replay:
    """Play a recorded game of a match again: one page to watch, its record, and a picture."""
    input:
        unpack(get_match_input),
        match=f"{OUT}/matches/{{match}}.json",
    output:
        page=f"{OUT}/replays/{{match}}/{{number}}.html",
        record=f"{OUT}/replays/{{match}}/{{number}}.json",
        picture=f"{OUT}/replays/{{match}}/{{number}}.svg",
    log:
        f"{OUT}/logs/replay/{{match}}.{{number}}.log",
    benchmark:
        f"{OUT}/benchmarks/replay/{{match}}.{{number}}.tsv"
    conda:
        CONDA_ENV
    threads: PROFILE["threads"]["match"]
    resources:
        mem_mb=more_memory,
        runtime=RESOURCES["runtime"],
        gpu=RESOURCES["gpu"],
    params:
        players=match_players,
        device=PROFILE["device"],
    message:
        "Replay of {wildcards.match}, game {wildcards.number}"
    script:
        "../../scripts/replay.py"
