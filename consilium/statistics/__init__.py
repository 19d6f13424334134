"""Coefficients, scores and intervals: plain arrays in, frozen dataclasses out, no Django.

Every coefficient is a module of its own, with formula, source and undefined cases in its docstring;
`docs/statistics.md` tells the same in one page. A figure is an `Estimate` or an `Undefined` (`estimate.py`); NaN is
used only inside arrays that carry resamples, where it marks "undefined in this resample", and never leaves the
package as a figure.
"""
