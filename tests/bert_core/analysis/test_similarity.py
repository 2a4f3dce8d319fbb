"""Cosines, nearest rows and principal axes, against arithmetic done otherwise."""

import numpy as np
import pytest
import torch

from bert_core.analysis.similarity import cosines, nearest, principal_axes


def cloud(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(3))


def test_cosines_are_those_of_the_textbook():
    vectors, table = cloud(2, 5), cloud(7, 5)
    found = cosines(vectors, table)
    assert found.shape == (2, 7)
    for i in range(2):
        for j in range(7):
            a, b = vectors[i].double(), table[j].double()
            expected = float(a @ b / (a.norm() * b.norm()))
            assert float(found[i, j]) == pytest.approx(expected, abs=1e-6)
    assert float(cosines(torch.zeros(5), table).abs().max()) == 0


def test_nearest_rows_come_in_order_and_without_those_left_out():
    table = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [-1.0, 0.0]])
    rows, values = nearest(table[0], table, 2, without=[0])
    assert rows == [1, 2]
    assert values == pytest.approx([0.9 / np.hypot(0.9, 0.1), 0.0], abs=1e-6)
    assert nearest(table[0], table, 9)[0] == [0, 1, 2, 3]
    assert nearest(table[0], table, 9, without=[0, 3])[0] == [1, 2]


def test_the_plane_keeps_what_two_axes_can_keep():
    points = cloud(9, 6)
    plane = principal_axes(points)
    centred = points.double().numpy() - points.double().numpy().mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred)
    np.testing.assert_allclose(plane.shares, variances[::-1][:2] / variances.sum(), atol=1e-9)
    expected = np.abs(centred @ axes[:, ::-1][:, :2])
    np.testing.assert_allclose(np.abs(plane.coordinates.numpy()), expected, atol=1e-9)
    assert plane.coordinates.mean(dim=0).abs().max() < 1e-9


def test_points_of_a_plane_keep_their_distances():
    flat = cloud(5, 2) @ torch.linalg.qr(cloud(6, 2)).Q.T
    plane = principal_axes(flat)
    torch.testing.assert_close(
        torch.cdist(plane.coordinates, plane.coordinates),
        torch.cdist(flat.double(), flat.double()), rtol=0, atol=1e-5,
    )  # fmt: skip
    assert float(plane.shares.sum()) == pytest.approx(1, abs=1e-6)


def test_the_sign_of_an_axis_depends_on_the_axis_alone():
    points = cloud(9, 6)
    doubled = torch.cat([points, points])
    first, again = principal_axes(points), principal_axes(doubled.flip(0))
    torch.testing.assert_close(again.coordinates.flip(0)[:9], first.coordinates)
    line = torch.tensor([[0.0, 0.0], [0.0, 3.0]])
    assert principal_axes(line).coordinates[:, 0].tolist() == pytest.approx([-1.5, 1.5])
    assert principal_axes(-line).coordinates[:, 0].tolist() == pytest.approx([1.5, -1.5])


def test_fewer_points_than_axes_give_zeros():
    alone = principal_axes(cloud(1, 6))
    assert alone.coordinates.tolist() == [[0, 0]] and alone.shares.tolist() == [0, 0]
    same = principal_axes(torch.ones(3, 6))
    assert same.coordinates.abs().max() == 0 and same.shares.tolist() == [0, 0]
