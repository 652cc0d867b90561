"""Before the configfile is taken: Snakemake's own message names neither file nor line."""

import sys
from pathlib import Path

# Snakemake hands its sys.path to the jobs; so those in a conda environment (--sdm
# conda), where the package is not installed, find it.
sys.path.append(workflow.basedir)

from royale.project.config import read_yaml
from royale.errors import ConfigError

try:
    read_yaml(Path.cwd(), Path("config/config.yaml"))
except ConfigError as error:
    sys.exit(f"config error: {error}")
