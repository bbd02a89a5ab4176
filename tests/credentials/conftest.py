import sys

collect_ignore = [] if sys.platform == "linux" else ["test_secret_service.py"]  # other systems have no such service
