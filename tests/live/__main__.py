"""Check Rialto against a live service: `python -m tests.live --record FILE`. See docs/live-check.md."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import os
import sys
import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from app.sandbox.server import Options, start_sandbox
from app.service.auth import ApiKeyAuth
from app.service.dialect import DIALECTS
from app.service.exchange import Exchange
from app.service.service import open_service
from app.storage.paths import resources
from tests.live.calls import LiveRun, planned, read_models
from tests.live.checking import Checked, charged, check, hide_personal

MOST_USD = Decimal(2)
KEY_VARIABLE = "RIALTO_KEY"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=str(__doc__).partition(":")[0])
    parser.add_argument("--dialect", choices=tuple(DIALECTS), default="venice")
    parser.add_argument("--service", metavar="URL", help="by itself the one of the dialect")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="write every call down, keys and personal data hidden"
    )
    parser.add_argument("--most", type=Decimal, default=MOST_USD, metavar="USD", help="2 by itself")
    parser.add_argument("--only-price", action="store_true", help="say what it would cost, and end")
    chosen = parser.parse_args()
    service = chosen.service or DIALECTS[chosen.dialect].base_url
    if service is None:
        parser.error("name the address of the service with --service")
    if chosen.record is not None and chosen.record.exists():
        parser.error(f"{chosen.record} is there already")
    key = os.environ.get(KEY_VARIABLE) or getpass.getpass("API key: ")
    if chosen.record is None:
        found = asyncio.run(run_live(service, chosen.dialect, key, chosen.most, only_price=chosen.only_price))
    else:
        options = Options(record=(chosen.record, service), local_ports={})
        with tempfile.TemporaryDirectory() as folder, start_sandbox(Path(folder), resources(), options=options) as one:
            found = asyncio.run(run_live(one.base_url, chosen.dialect, key, chosen.most, only_price=chosen.only_price))
        hide_personal(chosen.record)
    return 0 if all(each.outcome == "ok" and not each.new for each in found) else 1


async def run_live(
    base_url: str,
    dialect: str,
    key: str,
    most_usd: Decimal,
    *,
    today: date | None = None,
    only_price: bool = False,
    asks: bool = True,
) -> list[Checked]:
    """State the price, ask unless `asks` is False, make the calls and tell how each fits."""

    async def secret() -> str:
        return key

    exchanges: list[Exchange] = []
    service = open_service(base_url, dialect, ApiKeyAuth(secret), exchanges.append)
    with tempfile.TemporaryDirectory() as folder:
        run = LiveRun(service, Path(folder), today or datetime.now(UTC).date())
        try:
            await read_models(run)
            calls, left_out = planned(run, most_usd)
            for call in calls:
                print(f"${call.usd:<10f} {call.name} {call.model}")
            for words in left_out:
                print(f"left out    {words}")
            print(f"${sum(call.usd for call in calls):f} at most")
            if only_price or (asks and input("Make these calls? [y/N] ").strip().lower() != "y"):
                return []
            found = await check(run, calls)
            print(f"${charged(exchanges):f} charged")
            return found
        finally:
            await service.aclose()


if __name__ == "__main__":
    sys.exit(main())
