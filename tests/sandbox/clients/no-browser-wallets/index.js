// In place of 400 MB of wallets for browsers, which one client's packages name and nothing here imports.
export {};
