"""What applications put around a model of transformers: what torch.compile and PEFT return."""

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
