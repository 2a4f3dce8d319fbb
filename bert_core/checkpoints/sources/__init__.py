"""From a name to a local folder: folders, archives, addresses and the Hugging Face Hub."""
