"""What is checked of a sampler: that π is one for any φ, and nobody else's numbers are touched."""

from __future__ import annotations

import dataclasses
from unittest import SkipTest

import numpy as np

from uids.backends import Array
from uids.registry import Chosen
from uids.samplers.adopted import AdoptedSampler
from uids.scoring.scores import Scores
from uids.testing.check import demand, near, same
from uids.testing.problems import scores

STEP = 1e-6  # of the range of φ, by which a slope is seen


def sampler_of(chosen: Chosen) -> AdoptedSampler:
    sampler = AdoptedSampler(chosen)
    others = [each.name for each in sampler.alternatives()]
    if others != [sampler.name]:
        raise SkipTest(f"it leaves the choice to others: {', '.join(others)}")
    return sampler.at_alpha(1.0, scores()) if sampler.alpha == "auto" else sampler


def demand_probabilities(chosen: Chosen, seen: Scores, what: str) -> Array:
    """By the door, which refuses what are none."""
    pi = sampler_of(chosen).probabilities(seen)
    demand(
        pi.shape == seen.phi.shape, f"{what}: {pi.shape} probabilities for {seen.phi.shape} rows"
    )
    demand(((pi >= 0) & (pi <= 1)).all(), f"{what}: probabilities outside [0, 1]")
    return pi


def range_of_pi(chosen: Chosen) -> None:
    """One number in [0, 1] for each row: φ ordinary, long-tailed, tiny, huge, of one sign."""
    real = scores().phi
    tails = np.random.default_rng(0).standard_cauchy(len(real)) ** 3
    for what, phi in {
        "real φ": real,
        "φ with long tails": tails,
        "tiny φ": real * (1e-300 / np.abs(real).max()),
        "huge φ": real * (1e150 / np.abs(real).max()),
        "φ > 0 only": np.abs(real) + 1,
        "φ < 0 only": -np.abs(real) - 1,
    }.items():
        demand_probabilities(chosen, scores(phi), what)


def constant_phi(chosen: Chosen) -> None:
    """All φ alike, and all of them 0: no division by their range."""
    for value in (0.0, 3.0, -3.0):
        demand_probabilities(chosen, scores(np.full(60, value)), f"all φ are {value:g}")


def ties(chosen: Chosen) -> None:
    """Many equal φ beside others."""
    phi = np.repeat([-2.0, 0.0, 0.0, 5.0], 15)
    demand_probabilities(chosen, scores(phi), "φ of three values")


def one_row(chosen: Chosen) -> None:
    """A single row."""
    for value in (-1.0, 0.0, 1.0):
        demand_probabilities(chosen, scores(np.array([value]), n=1), f"one row, φ = {value:g}")


def determinism(chosen: Chosen) -> None:
    """The same scores have the same π, bit by bit: chance is for the draw."""
    np.random.seed(6)
    once = demand_probabilities(chosen, scores(), "real φ")
    np.random.seed(7)  # whoever asks the global generator gets other numbers
    again = demand_probabilities(chosen, scores(), "real φ")
    same(again, once, "the probabilities differ from one call to the next")


def no_mutation(chosen: Chosen) -> None:
    """The arrays of scores are as they were, and π is an array of its own."""
    seen, right = scores(), scores()
    pi = demand_probabilities(chosen, seen, "real φ")
    for name, now, before in (
        ("phi", seen.phi, right.phi),
        ("loss", seen.loss, right.loss),
        ("y", seen.y, right.y),
    ):
        same(now, before, f"scores.{name} is changed in place")
        demand(not np.shares_memory(pi, now), f"π lies in the memory of scores.{name}")


def gradient_bound(chosen: Chosen) -> None:
    """gradient_bound(scores) is 0 or more, and no slope of π in φ is above it."""
    sampler, seen = sampler_of(chosen), scores()
    bound = sampler.gradient_bound(seen)
    if bound is None:
        raise SkipTest("it has no gradient_bound(scores)")
    demand(bound >= 0, f"gradient_bound(scores) is {bound}")
    pi = sampler.probabilities(seen)
    order = np.argsort(seen.phi)
    step = STEP * float(np.ptp(seen.phi))
    for i in order[5:-5:5]:  # not the ends, which π may be scaled by
        phi = seen.phi.copy()
        phi[i] += step
        slope = abs(float(sampler.probabilities(scores(phi))[i] - pi[i])) / step
        demand(
            slope <= bound * 1.001 + 1e-9,
            f"gradient_bound(scores) is {bound:.3g}, and a slope of π is {slope:.3g}",
        )


def alpha(chosen: Chosen) -> None:
    """A field alpha that takes "auto" takes any positive number of its unit too."""
    sampler = AdoptedSampler(chosen)
    types = {field.name: str(field.type) for field in dataclasses.fields(chosen.component)}
    if "str" not in types.get("alpha", ""):
        raise SkipTest('it has no field alpha that takes the word "auto"')
    for value in (0.1, 1.0, 100.0):
        pi = sampler.at_alpha(value, scores()).probabilities(scores())
        scaled = scores(1e3 * scores().phi)
        again = sampler.at_alpha(value, scaled).probabilities(scaled)
        near(again, pi, f"π at alpha={value:g} units of alpha_unit(scores), φ being larger,", 1e-9)
