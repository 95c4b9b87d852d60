"""What applications make of a model of transformers: by torch.compile, PEFT and torchao."""

from types import SimpleNamespace

import torch


def compiled(net):
    return torch.compile(net, backend="eager")


class LoraAround(torch.nn.Module):
    """As PEFT 0.21 is around a network with LoRA layers, so far as the guard meets it."""

    active_peft_config = SimpleNamespace(peft_type="LORA")

    def __init__(self, net):
        super().__init__()
        self.base_model = torch.nn.ModuleDict({"model": net})
        self.config = net.config
        self.eval()

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("base_model")["model"], name)

    def get_base_model(self):
        return self.base_model["model"]

    def forward(self, *args, **kwargs):
        return self.get_base_model()(*args, **kwargs)

    def generate(self, *args, **kwargs):
        self.get_base_model().generation_config = self.generation_config
        return self.get_base_model().generate(*args, **kwargs)


class Quantised(torch.Tensor):
    """As torchao's weights: integers and a scale, and few operations."""

    @staticmethod
    def __new__(cls, integers, scale):
        return torch.Tensor._make_wrapper_subclass(cls, integers.shape, dtype=scale.dtype)

    def __init__(self, integers, scale):
        self.integers, self.scale = integers, scale

    def __tensor_flatten__(self):
        return ["integers", "scale"], None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return cls(args[0].integers, args[0].scale)
        raise NotImplementedError(f"no {func} of quantised weights")
