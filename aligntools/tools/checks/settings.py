"""Settings of checks of translations."""

from dataclasses import dataclass

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.ranges import amounts


@documented
@dataclass(frozen=True)
class CheckSettings(Settings):
    """When a sentence pair is flagged.

    The default of ``flag_above`` was chosen on en-de and en-cs text, so that 5 % of its pairs are flagged.
    """

    flag_above: float = option(
        8.0, "Flag pairs whose score is above this.", allowed=amounts(), group="Limits", metavar="X"
    )
