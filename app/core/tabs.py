"""What every layer calls a tab: its name in receipts and limits, and the word on the rail."""

TAB_WORDS = {
    "chat": "Chat",
    "video": "Video",
    "speech": "Speech",
    "transcription": "Transcribe",
    "images": "Images",
    "crypto_rpc": "Console",
    "wallet": "Wallet",
    "settings": "Settings",
}
