from collections.abc import Iterator

import pytest

from tests.connectors.servers import Host, MovedTime, serving_host


@pytest.fixture(scope="module")
def _host() -> Iterator[Host]:
    with serving_host() as host:
        yield host


@pytest.fixture
def host(_host: Host) -> Host:
    _host.forget()
    return _host


@pytest.fixture(scope="module")
def _elsewhere() -> Iterator[Host]:
    with serving_host() as host:
        yield host


@pytest.fixture
def elsewhere(_elsewhere: Host) -> Host:
    _elsewhere.forget()
    return _elsewhere


@pytest.fixture
def moved() -> MovedTime:
    return MovedTime()
