"""One sealed chat by a published client, as its page shows it: attest, send, read. Prints what came of it as JSON.

Runs in an environment of its own. With "quotes" it checks quotes by itself, with the root that it is given.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys
import urllib.parse
import urllib.request
import warnings

import dcap_qvl
from venice_ai import VeniceClient
from venice_ai.tee import DcapTdxVerifier, TeeOptions

warnings.simplefilter("ignore")
BASE, API_KEY, MODEL, WITH = sys.argv[1:]
TURNS = [
    {"role": "system", "content": "Be terse."},
    {"role": "user", "content": "How do I stop an answer?"},
    {"role": "assistant", "content": "Press Esc, pomegranate."},
    {"role": "user", "content": "And how do I continue it?"},
]


def fetched(address: str) -> tuple[bytes, str]:
    """A body, and the chain that stands in its header."""
    asked = urllib.request.Request(address, headers={"Authorization": f"Bearer {API_KEY}"})
    with urllib.request.urlopen(asked) as answer:
        chains = [text for name, text in answer.headers.items() if name.lower().endswith("issuer-chain")]
        return answer.read(), urllib.parse.unquote("".join(chains))


def verifier() -> DcapTdxVerifier:
    """The client's own check of quotes, with Intel's lists and the root as the Sandbox has them."""
    root = json.loads(fetched(f"{BASE.removesuffix('/api/v1')}/sandbox/sealed/root")[0])
    tcb, tcb_chain = fetched(f"{root['lists']}/tdx/certification/v4/tcb")
    qe, qe_chain = fetched(f"{root['lists']}/tdx/certification/v4/qe/identity")
    crl, crl_chain = fetched(f"{root['lists']}/sgx/certification/v4/pckcrl")
    signed = [re.fullmatch(r'\{"\w+":(.*),"signature":"(\w+)"\}', each.decode()).groups() for each in (tcb, qe)]
    lists = {
        "pck_crl_issuer_chain": crl_chain,
        "root_ca_crl": fetched(f"{root['lists']}/sgx/certification/v4/rootcacrl")[0].hex(),
        "pck_crl": crl.hex(),
        "tcb_info_issuer_chain": tcb_chain,
        "tcb_info": signed[0][0],
        "tcb_info_signature": signed[0][1],
        "qe_identity_issuer_chain": qe_chain,
        "qe_identity": signed[1][0],
        "qe_identity_signature": signed[1][1],
    }
    der = base64.b64decode("".join(root["certificate"].splitlines()[1:-1]))
    collateral = dcap_qvl.QuoteCollateralV3.from_json(json.dumps(lists))
    return DcapTdxVerifier(collateral=collateral, root_ca_der=der)


async def main() -> None:
    said = {"stage": "attestation", "text": "", "reason": ""}
    turns = TURNS if WITH == "history" else [TURNS[0], TURNS[1]]
    try:
        async with VeniceClient(api_key=API_KEY, base_url=BASE) as client:
            e2ee = TeeOptions(verifier=verifier()) if WITH == "quotes" else True
            stream = await client.chat.completions.stream(model=MODEL, messages=turns, e2ee=e2ee)
            said["stage"] = "answer"
            async with stream as pieces:
                async for text in pieces.text_deltas():
                    said["text"] += text
        said["stage"] = "done"
    except Exception as error:
        said["reason"] = str(error)
    print(json.dumps(said))


asyncio.run(main())
