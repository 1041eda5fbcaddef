"""Plans: check whether a plan can be run on a knowledge base."""

from __future__ import annotations

from collections.abc import Mapping

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from search.api import groups
from search.api import serializers as shape
from search.api.knowledge_bases import find_release
from search.api.permissions import ANYBODY
from search.services.access.limits import count_search
from search.services.access.visitor_cookie import visitor_of
from search.services.searches.check_plan import CheckedPlan, check_plan
from search.wiring import schema_of


class PlanCheck(APIView):
    """The check of a plan; it runs nothing."""

    rights = {"POST": ANYBODY}

    @extend_schema(
        operation_id="plans_check",
        summary="Check a plan without running it",
        tags=[groups.PLANS],
        request=shape.PlanSerializer,
        responses={
            200: OpenApiResponse(
                shape.CheckedPlanSerializer, description="The result of the check, whether the plan is valid or not."
            ),
            **shape.problems(400, 401, 403, 404, 413, 415, 429, 503),
        },
    )
    def post(self, request: Request, name: str) -> Response:
        """Check a plan against the schema of the knowledge base and return every fault; nothing is run or stored.

        Of more than fifty faults the first fifty are told, and that there are more. A check counts as a search among
        those that a caller may request in a minute; above that number the answer is 429.

        The body is the plan. It may also be wrapped as `{"plan": …}`, as in the request for a search; the pointers of
        the faults then begin with `/plan`.
        """
        count_search(request.user, visitor_of(request))
        schema = schema_of(find_release(request, name))
        body = request.data
        if isinstance(body, Mapping) and set(body) == {"plan"}:
            return Response(_below_plan(check_plan(body["plan"], schema)).to_json())
        return Response(check_plan(body, schema).to_json())


def _below_plan(checked: CheckedPlan) -> CheckedPlan:
    faults = tuple(fault.below("/plan") for fault in checked.faults)
    return CheckedPlan(checked.plan, faults, checked.mended, checked.changes)
