"""Where the built program begins: the same as `python -m app`."""

from app.__main__ import main

raise SystemExit(main())
