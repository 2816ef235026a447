"""How fast PyTorch trains the network of `fairyforge train --bench` on this machine: an EmbeddingBag, for comparison.

Needs torch and numpy (`pip install torch numpy`; any version since 2.0). The same shape, sums, activation, loss and optimiser, and made-up
positions as there: one input out of each of 40 equal stretches a side.

    python notebooks/train_bench_pytorch.py --threads 2
"""

import argparse
import statistics
import time

import numpy as np
import torch

ACTIVE = 40
BATCHES = 4


class Network(torch.nn.Module):
    """(inputs -> width)x2 -> 1, squared clipped ReLU; the first layer is a sum of rows."""

    def __init__(self, inputs: int, width: int):
        super().__init__()
        self.rows = torch.nn.EmbeddingBag(inputs, width, mode="sum")
        self.bias = torch.nn.Parameter(torch.zeros(width))
        self.output = torch.nn.Linear(2 * width, 1)

    def forward(self, sides: torch.Tensor) -> torch.Tensor:
        """`sides`: [2 * positions, active], first all positions' sides to move, then their opponents."""
        roots = (self.rows(sides) + self.bias).clamp(0.0, 1.0)
        own, other = (roots * roots).chunk(2)
        return self.output(torch.cat([own, other], dim=1)).squeeze(1)


def made_up(inputs: int, positions: int, random: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Active inputs and targets of so many positions."""
    edges = np.arange(ACTIVE + 1) * inputs // ACTIVE
    sides = random.integers(edges[:-1], edges[1:], size=(2 * positions, ACTIVE))
    return torch.from_numpy(sides), torch.from_numpy(random.random(positions, dtype=np.float32))


def learn(network: Network, adam: torch.optim.Optimizer, batch: tuple[torch.Tensor, torch.Tensor]) -> None:
    sides, targets = batch
    adam.zero_grad(set_to_none=True)
    loss = ((torch.sigmoid(network(sides)) - targets) ** 2).mean()
    loss.backward()
    adam.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=4320)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch", type=int, default=16384)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=4, help="batches a round")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    random = np.random.default_rng(1)
    batches = [made_up(args.inputs, args.batch, random) for _ in range(BATCHES)]
    network = Network(args.inputs, args.width)
    adam = torch.optim.Adam(network.parameters(), lr=1e-3)
    learn(network, adam, batches[0])
    speeds = []
    for _ in range(args.rounds):
        began = time.perf_counter()
        for number in range(args.batches):
            learn(network, adam, batches[number % BATCHES])
        speeds.append(args.batch * args.batches / (time.perf_counter() - began))
    print(f"PyTorch {torch.__version__}, EmbeddingBag, ({args.inputs} -> {args.width})x2 -> 1, batches of {args.batch}, {args.threads} threads")
    print(f"positions/s: best {max(speeds):.0f}, median {statistics.median(speeds):.0f}")


if __name__ == "__main__":
    main()
