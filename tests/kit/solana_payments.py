"""Terms and payments of the Solana rail, and transactions that other programs made.

The transactions pay the Sandbox 5 USD and were made once by the published clients, from keys of one repeated byte.
"""

from __future__ import annotations

from app.wallet.networks import SOLANA_NETWORK

MINT = "3rTEoPu4A2YhRTnS1gjoHEpJPuF13wfKinvGfLozYmPY"
RECEIVER = "FgsGsXcckzNWQrV9M7mG2kijp2Vt6MKDNF1Jf66jNiMa"
FEE_PAYER = "FgiXdADjh5HMUZ3tRxqBeoyqPqnGk9rC7hgoooN5ke1c"
BLOCK = "ESSLMtNfaeNmFEGXGR1hdb5MmqyJ7fV2cAk2YQh1EfP2"
EXTRA: dict[str, object] = {
    "name": "USD Coin",
    "version": "2",
    "feePayer": FEE_PAYER,
    "recentBlockhash": BLOCK,
    "lastValidBlockHeight": "72016465",
}
TERMS: dict[str, object] = {
    "scheme": "exact",
    "network": SOLANA_NETWORK,
    "amount": "5000000",
    "asset": MINT,
    "payTo": RECEIVER,
    "maxTimeoutSeconds": 300,
    "extra": EXTRA,
}
BY_X402_FOR_PYTHON = (  # 2.25.0 with solders 0.27.1; the key is 32 times 9
    "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACdM2Pu3FPze2EU"
    "IbXQGQ4BYHneUy3+7c9Mk/Rr9YvtffIhQP995uij57YXW4YxSmH3xfUT4aWg8Ff9dtoRmocFgAIBBAjaMDlwYZkp8KFTHnvxgwrA"
    "YxHCriyJW2tC9/S4ilFr7/0XJDhaoMdbZPt4zWAvodmR/ev3axPFjtcC6sg16fYY8NHX4hXy3aVrXtw2sZjLQ5skuTzF3HW8AvKZ"
    "DvvZXDPzM9PPWeyoI1/PsfyOLbPVv0OjPMPOoNHZU1H4Bt5owgMGRm/lIRcy/+ytunLDm+e8jOW7xfcSayxDmzpAAAAABUpTWpkp"
    "IQZNJOhxYNo4fHw1td28kruB5B+oQEEFRI0G3fbh12Whk9nL4UbO63msHLSF7V9bN5E6jPWFfv8AqSpigDWpsX2KFz3MFaQ0Qn5P"
    "6Cd3UUnToiEsg+xvuDAzx6wYZHBRy1CJKNhvqR5jqAQqZxzozcky/fVNPBLvjZ0EBAAFAiBOAAAEAAkDAQAAAAAAAAAGBAMHAgEK"
    "DEBLTAAAAAAABgUAIDI0ZWM4ODhmZWY0MmQ3Y2ZjYzA3MWZlOTgwYjNlNTU3AA=="
)
BY_X402_FOR_JAVASCRIPT = (  # @x402/svm 2.27.0 with @solana/kit; the key is 32 times 11
    "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABH2FxzxMHE/RkI"
    "RijQZrD1Wj+eGWQMfTLSvpezP4xohw1MeUJpTw3CoC+0eJLHllndgq5wKTIJfvp/AtlHsHcIgAIBBAjaMDlwYZkp8KFTHnvxgwrA"
    "YxHCriyJW2tC9/S4ilFr72a+fjMsekUzMr2dCn99sFX1xe8aBq2mbZizn7aBDEc6LHj+gCk7pPt2GemUdMa7UL/rSVBbAGP8Xwi/"
    "UAMYGhjw0dfiFfLdpWte3DaxmMtDmyS5PMXcdbwC8pkO+9lcMypigDWpsX2KFz3MFaQ0Qn5P6Cd3UUnToiEsg+xvuDAzAwZGb+Uh"
    "FzL/7K26csOb57yM5bvF9xJrLEObOkAAAAAFSlNamSkhBk0k6HFg2jh8fDW13bySu4HkH6hAQQVEjQbd9uHXZaGT2cvhRs7reawc"
    "tIXtX1s3kTqM9YV+/wCpw/GAq/Y40t28lM8Gqfc5AZIg7OTQjVob0mtzdbtsRP0EBQAFAiBOAAAFAAkDAQAAAAAAAAAHBAIEAwEK"
    "DEBLTAAAAAAABgYAIDU5NTA4MWQ1NjVmYmE4MWY4MTZiNzljOTMxMTFmNGQ1AA=="
)
JAVASCRIPTS_BLOCK = "EBt64NPYZQTQ5gyXdtmHhquuAEvfSEuxoHdrxs6QCacc"


def terms(extra: dict[str, object] | None = None, **changes: object) -> dict[str, object]:
    """The Sandbox's terms; `extra` changes its fields, None takes one away."""
    fields = {name: value for name, value in {**EXTRA, **(extra or {})}.items() if value is not None}
    return {**TERMS, "extra": fields, **changes}
