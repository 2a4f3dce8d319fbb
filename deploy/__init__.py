"""Everything for hosting the site elsewhere; `docs/hosting.md` describes how it is used."""
