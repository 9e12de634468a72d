"""PyTorch's words for how elements lie in memory. Operations accept them, and the elements stand in row-major order:
no value depends on it."""


class MemoryFormat:
    """A word for an order of elements in memory."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"ricci.{self.name}"

    def __reduce__(self):
        return self.name


contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")
channels_last_3d = MemoryFormat("channels_last_3d")
strided = MemoryFormat("strided")
