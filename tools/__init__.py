"""Commands for those who work on the site: pictures of the documents, recorded runs of the lab."""
