"""The CDK application of the plain pattern, and variants of it; those are deployed whose downstream is named.

`-c effectUrl:plain=http://127.0.0.1:<port>/…`, `effectUrl:plain-retrying`, `effectUrl:plain-completing`.
"""

import sys

import aws_cdk as cdk

from bench.peers.plain.stack import PlainStack, Variant
from stacks import vendor
from stacks.refusal import Refusal
from stacks.settings import read_stage

VARIANTS: dict[str, Variant] = {
    "plain": {},
    "plain-retrying": {"retry_any": True},
    "plain-completing": {"completes": True},
}


def main() -> None:
    """Synthesize into the folder that the CDK command line asks for."""
    app = cdk.App(analytics_reporting=False, builtin_cloud_formation_validation=False)
    stage = read_stage("sandbox", app.node.try_get_context("stages"))
    vendor.fill()
    for name, variant in VARIANTS.items():
        effect_url = app.node.try_get_context(f"effectUrl:{name}")
        if effect_url is not None:
            PlainStack(app, name, stage=stage, effect_url=effect_url, **variant)
    app.synth()


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        sys.exit(f"bench/peers/plain/app.py: {refusal}")
