"""What Powertools keeps on the layer although calls differ in it, or threads would race for it."""

from contextvars import ContextVar
from threading import RLock
from typing import Any

from aws_lambda_powertools.utilities.idempotency import BasePersistenceLayer, IdempotencyConfig
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import DataRecord

_prefix: ContextVar[str] = ContextVar("key_prefix", default="")


class SharedPersistenceLayer(BasePersistenceLayer):
    """Lets threads and nested calls share one layer.

    The key's prefix is set anew for each guarded call: on the instance, a call would end under the prefix of
    whichever call began last. The first call's configuration is seen as a whole or not at all. The local
    cache is an OrderedDict that is looked up and changed in separate steps.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._lock = RLock()
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call] # Powertools' own is untyped

    @property
    def function_name(self) -> str:
        return _prefix.get()

    @function_name.setter
    def function_name(self, prefix: str) -> None:
        _prefix.set(prefix)

    def configure(
        self, config: IdempotencyConfig, function_name: str | None = None, key_prefix: str | None = None
    ) -> None:
        with self._lock:
            super().configure(config, function_name, key_prefix)

    def _save_to_cache(self, data_record: DataRecord) -> None:
        with self._lock:
            super()._save_to_cache(data_record)

    def _retrieve_from_cache(self, idempotency_key: str) -> DataRecord | None:
        with self._lock:
            record: DataRecord | None = super()._retrieve_from_cache(idempotency_key)
            return record

    def _delete_from_cache(self, idempotency_key: str) -> None:
        with self._lock:
            super()._delete_from_cache(idempotency_key)
