"""What is here of torch.nn: the functions. A model is a tree of Tensors, so there are no modules."""

from . import functional  # noqa: F401
