"""The MCP tools: Gradio's server for them, with answers in JSON, and without resources.

Gradio writes an answer as Python does, with single quotes. It also answers requests for resources
by connecting to the address that the request names; there are no resources here, so these requests
are refused.
"""

import json
from typing import Any

import gradio.mcp
from mcp import types

_NOT_HERE = (
    types.ListResourcesRequest,
    types.ListResourceTemplatesRequest,
    types.ReadResourceRequest,
    types.ListPromptsRequest,
    types.GetPromptRequest,
)


class Tools(gradio.mcp.GradioMCPServer):
    """One tool for each named endpoint."""

    def create_mcp_server(self) -> Any:
        """Create the server and drop what is not offered."""
        server = super().create_mcp_server()
        for kind in _NOT_HERE:
            server.request_handlers.pop(kind, None)
        return server

    def postprocess_output_data(self, data: Any, root_url: str) -> list[Any]:
        """Write the answer as JSON."""
        written = (json.dumps(each, ensure_ascii=False) for each in data)
        return [types.TextContent(type="text", text=text) for text in written]


def install() -> None:
    """Make Gradio use `Tools`; it has no setting for that."""
    gradio.mcp.GradioMCPServer = Tools  # type: ignore[misc]
